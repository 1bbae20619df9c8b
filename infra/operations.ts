import { type Operation, readOperations } from '../contract/operations.ts';
import type { TableName } from './tables.ts';

/** The actions of each operation on each table, one line per operation. Each can also read the access tokens. */
const GRANTS: Record<string, Grants> = {
  createPlant: { plants: ['PutItem'] },
};

/** The actions on a table that can be granted, each with the capacity that it uses. */
export const ACTIONS = {
  GetItem: 'Read',
  BatchGetItem: 'Read',
  Query: 'Read',
  Scan: 'Read',
  PutItem: 'Write',
  UpdateItem: 'Write',
  DeleteItem: 'Write',
  BatchWriteItem: 'Write',
} as const;

export type Action = keyof typeof ACTIONS;
export type Grants = Partial<Record<TableName, Action[]>>;

export interface GrantedOperation extends Operation {
  grants: Grants;
}

/** The operations of the contract with their grants. Throws a sentence if GRANTS has a line too few or too many. */
export function grantedOperations(operations = readOperations(), lines = GRANTS): GrantedOperation[] {
  const unknown = Object.keys(lines).find((id) => operations.every(({ operationId }) => operationId !== id));
  if (unknown !== undefined) {
    throw new Error(`infra/operations.ts has a line for ${unknown}, which openapi.yaml does not have.`);
  }
  return operations.map((operation) => {
    const { operationId } = operation;
    const line = lines[operationId];
    if (!line) {
      throw new Error(
        `infra/operations.ts has no line for ${operationId} of openapi.yaml: add one with its actions on the tables, as in "${operationId}: { plants: ['GetItem'] },".`,
      );
    }
    // Every operation checks the access token.
    return { ...operation, grants: { ...line, accessTokens: ['GetItem', ...(line.accessTokens ?? [])] } };
  });
}

/** `CreatePlant` for `createPlant`: the ids of an operation's resources start with it. */
export function constructId({ operationId }: Operation): string {
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`;
}
