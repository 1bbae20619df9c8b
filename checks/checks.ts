import type { Check } from './check.ts';
import { contractChecks, type DeploymentFacts, type SmokeOperation } from './contract-checks.ts';
import { createPlantChecks } from './create-plant-checks.ts';
import { operations } from './operations.generated.js';

/** The checks of an operation's own responses, by its id. */
const OWN_CHECKS: Record<string, Check[]> = {
  createPlant: createPlantChecks,
};

/** Every check that a client can make. */
export const checks = [...Object.values(OWN_CHECKS).flat(), ...contractChecks(operations)];

/** An operation of the contract, and the checks that its function passes without API Gateway. */
export function checksOfFunction(
  operationId: string,
  facts?: DeploymentFacts,
): { operation: SmokeOperation; checks: Check[] } {
  const operation = operations.find((each) => each.operationId === operationId);
  if (!operation) throw new Error(`openapi.yaml has no operation ${operationId}.`);
  const all = [...contractChecks([operation], facts), ...(OWN_CHECKS[operationId] ?? [])];
  return { operation, checks: all.filter(({ byGateway }) => !byGateway) };
}
