import { writeGenerated } from './generate/generate.ts';
import { command } from './shared/command.ts';

const USAGE = `Usage: npm run generate

Writes the files that are generated from openapi.yaml.`;

await command({ usage: USAGE }, async () => writeGenerated());
