import { contractRules, type SmokeOperation } from './contract-rules.ts';
import { createPlantRules } from './create-plant-rules.ts';
import operations from './operations.generated.json' with { type: 'json' };
import type { Rule } from './rule.ts';

/** What an operation's own answers must be, by its id. */
const OWN_RULES: Record<string, Rule[]> = { createPlant: createPlantRules };

/** All rules of the contract that a caller can see. */
export const rules = [...Object.values(OWN_RULES).flat(), ...contractRules(operations)];

/** An operation of the contract and the rules that its function keeps by itself, without the gateway. */
export function rulesOfFunction(operationId: string): { operation: SmokeOperation; rules: Rule[] } {
  const operation = operations.find((each) => each.operationId === operationId);
  if (!operation) throw new Error(`${operationId} is no operation of the contract.`);
  const all = [...(OWN_RULES[operationId] ?? []), ...contractRules([operation])];
  return { operation, rules: all.filter(({ byGateway }) => !byGateway) };
}
