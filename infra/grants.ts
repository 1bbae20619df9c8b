import { readOperations } from '../model/contract.ts';
import type { GrantedOperation } from './functions.ts';

/**
 * The actions that each operation may use on the tables, and in `addResources` its other AWS services. Each operation
 * also gets `GetItem` on the access tokens.
 */
const GRANTS: Record<string, OperationGrants> = {
  createPlant: { plants: ['PutItem'] },
};

type OperationGrants = GrantedOperation['grants'] & Pick<GrantedOperation, 'addResources'>;

/**
 * Returns the operations of the contract with their grants.
 *
 * @throws if `grants` does not have exactly these operations
 */
export function grantedOperations(operations = readOperations(), grants = GRANTS): GrantedOperation[] {
  const unknown = Object.keys(grants).find((id) => operations.every(({ operationId }) => operationId !== id));
  if (unknown !== undefined) {
    throw new Error(`GRANTS in infra/grants.ts has the operation ${unknown}, which openapi.yaml does not have.`);
  }
  return operations.map((operation) => {
    const { operationId } = operation;
    const own = grants[operationId];
    if (!own) {
      throw new Error(
        `GRANTS in infra/grants.ts does not have the operation ${operationId} of openapi.yaml. Add a line with the table actions that it uses, such as "${operationId}: { plants: ['GetItem'] },".`,
      );
    }
    const { addResources, ...tables } = own;
    return {
      ...operation,
      ...(addResources && { addResources }),
      // Every operation checks the access token.
      grants: { ...tables, accessTokens: ['GetItem', ...(tables.accessTokens ?? [])] },
    };
  });
}
