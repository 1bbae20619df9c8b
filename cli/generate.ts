import { writeGenerated } from '../contract/generate.ts';
import { command } from './command.ts';

/* npm run generate: writes the files that openapi.yaml determines. */

await command({ usage: 'Usage: npm run generate' }, async () => writeGenerated());
