import type { Action } from '../functions/shared/dynamodb/actions.ts';
import { type Operation, readOperations } from './contract.ts';
import type { OperationFunction } from './functions.ts';
import type { TableName } from './table-keys.ts';

/**
 * The actions that each operation may use on the tables, and in `resources` its other AWS services. Each operation also
 * gets `GetItem` on the access tokens.
 */
const GRANTS: Record<string, Uses> = {
  createPlant: { plants: ['PutItem'] },
};

type Grants = Partial<Record<TableName, Action[]>>;

interface OtherResources {
  /** Adds other resources to the operation's construct, and gives its function access (docs/changing.md). @default none */
  resources?: (construct: OperationFunction) => void;
}

type Uses = Grants & OtherResources;

export interface GrantedOperation extends Operation, OtherResources {
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
    const { resources, ...tables } = own;
    return {
      ...operation,
      ...(resources && { resources }),
      // Every operation checks the access token.
      grants: { ...tables, accessTokens: ['GetItem', ...(tables.accessTokens ?? [])] },
    };
  });
}

/** Returns the prefix of an operation's construct ids: its id in PascalCase, such as `CreatePlant`. */
export function constructId({ operationId }: Operation): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`;
}
