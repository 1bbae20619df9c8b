import { createPlantChecks } from '../create-plant/checks.ts';
import type { Check } from '../shared/checks.ts';

/** The checks of each operation, by operation id. */
export const allChecks: Record<string, Check[]> = {
  createPlant: createPlantChecks,
};
