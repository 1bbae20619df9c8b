import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { command } from './command.ts';
import { readMembers } from './generator/members.ts';
import { plantModule } from './generator/plant.ts';
import { validatorModule } from './generator/validator.ts';

const USAGE = `Usage: npm run generate

Generates, from the schema NewPlant of openapi.yaml, the function's types, validator and conversion to an item.`;

const FOLDER = 'functions/create-plant';

/** Returns the generated files of a contract: their texts by their paths. Throws a ContractError. */
export function generatedFiles(contract: string): Record<string, string> {
  const members = readMembers(contract);
  return {
    [`${FOLDER}/plant.generated.ts`]: plantModule(members),
    [`${FOLDER}/validate-event.generated.ts`]: validatorModule(members),
  };
}

/** Writes the generated files of openapi.yaml that differ or are missing. Returns their paths. */
export function generate(): string[] {
  const files = Object.entries(generatedFiles(readFileSync('openapi.yaml', 'utf8')));
  const changed = files.filter(([file, text]) => !existsSync(file) || readFileSync(file, 'utf8') !== text);
  for (const [file, text] of changed) writeFileSync(file, text);
  return changed.map(([file]) => file);
}

if (import.meta.main) {
  await command({ usage: USAGE }, async () => {
    console.log(`Changed files: ${generate().join(', ') || 'none'}`);
  });
}
