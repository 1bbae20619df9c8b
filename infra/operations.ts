import { type Operation, readOperations } from '../functions/operations.ts';
import type { TableName } from './tables.ts';

/** What each operation may do on which table, one line an operation. Each may read the access tokens besides. */
const GRANTS: Record<string, Grants> = {
  createPlant: { plants: ['PutItem'] },
};

/** The actions on a table that can be granted, and by which of its capacities DynamoDB throttles each. */
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

/**
 * The operations of the contract with what each may do. Throws a sentence that names an operation without a line above,
 * or a line without an operation.
 */
export function grantedOperations(operations = readOperations(), lines = GRANTS): GrantedOperation[] {
  for (const operationId of Object.keys(lines)) {
    if (operations.some((operation) => operation.operationId === operationId)) continue;
    throw new Error(
      `infra/operations.ts has a line for ${operationId}, which is no operation of openapi.yaml: take the line out, or name the operation as openapi.yaml does.`,
    );
  }
  return operations.map((operation) => {
    const line = lines[operation.operationId];
    if (!line) {
      throw new Error(
        `infra/operations.ts has no line for the operation ${operation.operationId} of openapi.yaml: add one that says what it may do on which table, as in "${operation.operationId}: { plants: ['GetItem'] },".`,
      );
    }
    // Every operation starts with the bearer check.
    return { ...operation, grants: { ...line, accessTokens: ['GetItem', ...(line.accessTokens ?? [])] } };
  });
}

/**
 * The id of what a construct or the stack has one of for each operation: `GetPlantRelease`, but `Release` for createPlant.
 * That was deployed before there was another operation; under a new id CloudFormation would put a new resource in the
 * place of the deployed one.
 */
export function ownId({ operationId }: Operation, id: string): string {
  return operationId === 'createPlant' ? id : `${pascalCase(operationId)}${id}`;
}

/** A name in camel case with a capital at its start. */
export function pascalCase(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}
