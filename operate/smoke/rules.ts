import { contractRules } from './contract-rules.ts';
import { createPlantRules } from './create-plant-rules.ts';
import operations from './operations.generated.json' with { type: 'json' };

/** All rules of the contract that a caller can see. */
export const rules = [...createPlantRules, ...contractRules(operations)];
