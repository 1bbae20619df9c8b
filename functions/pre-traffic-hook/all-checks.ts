import { createPlantChecks } from '../create-plant/checks.ts';
import type { Check } from './check.ts';
import { contractChecks, type DeploymentFacts } from './contract-checks.ts';
import { operations } from './operations.generated.js';

/** The checks of a single operation's behaviour, by operation id. */
const OPERATION_CHECKS: Record<string, Check[]> = {
  createPlant: createPlantChecks,
};

/** All checks of the smoke test. */
export const checks = [...Object.values(OPERATION_CHECKS).flat(), ...contractChecks(operations)];

/** Returns an operation of the contract, and the checks that its function can pass without API Gateway. */
export function checksOfFunction(operationId: string, facts?: DeploymentFacts) {
  const operation = operations.find((each) => each.operationId === operationId);
  if (!operation) throw new Error(`openapi.yaml has no operation ${operationId}.`);
  const all = [...contractChecks([operation], facts), ...(OPERATION_CHECKS[operationId] ?? [])];
  return { operation, checks: all.filter(({ needsGateway }) => !needsGateway) };
}
