import { type Operation, readOperations } from './contract.ts';
import type { TableName } from './tables.ts';

/** The actions that each operation may use on each table. `GetItem` on the access tokens is added to all of them. */
const GRANTS: Record<string, Grants> = {
  createPlant: { plants: ['PutItem'] },
};

/** The actions that can be granted on a table. */
export type Action = 'GetItem' | 'Query' | 'Scan' | 'PutItem' | 'UpdateItem' | 'DeleteItem';
export type Grants = Partial<Record<TableName, Action[]>>;

export interface GrantedOperation extends Operation {
  grants: Grants;
}

/** Returns the operations of the contract with their grants. Throws if GRANTS does not have exactly these operations. */
export function grantedOperations(operations = readOperations(), grants = GRANTS): GrantedOperation[] {
  const unknown = Object.keys(grants).find((id) => operations.every(({ operationId }) => operationId !== id));
  if (unknown !== undefined) {
    throw new Error(`GRANTS in infra/operations.ts has the operation ${unknown}, which openapi.yaml does not have.`);
  }
  return operations.map((operation) => {
    const { operationId } = operation;
    const own = grants[operationId];
    if (!own) {
      throw new Error(
        `GRANTS in infra/operations.ts does not have the operation ${operationId} of openapi.yaml. Add a line with the table actions that it uses, such as "${operationId}: { plants: ['GetItem'] },".`,
      );
    }
    // Every operation checks the access token.
    return { ...operation, grants: { ...own, accessTokens: ['GetItem', ...(own.accessTokens ?? [])] } };
  });
}

/** Returns the start of the construct ids of an operation's resources: its id in PascalCase, such as `CreatePlant`. */
export function constructId({ operationId }: Operation): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`;
}
