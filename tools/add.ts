import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../infra/project-root.ts';
import { addExample } from './add/example.ts';
import { checked, command } from './shared/command.ts';

const examples = readdirSync(join(projectRoot, 'examples'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const USAGE = `Usage: npm run add -- EXAMPLE

Adds an operation of examples/ to the project, with its path in openapi.yaml, its code and tests in functions/,
its permissions in infra/grants.ts and a sample event. EXAMPLE is one of ${examples.join(', ')}.
If it cannot add all of it, it changes nothing.`;

await command({ usage: USAGE, args: ['EXAMPLE'] }, async (_, [example = '']) => {
  checked('EXAMPLE', example, new RegExp(`^(${examples.join('|')})$`), `one of ${examples.join(', ')}`);
  const files = addExample(example, projectRoot);
  console.log(`Added ${example}. These files are new or changed:\n\n${files.map((file) => `  ${file}\n`).join('')}`);
  console.log(
    'Now raise the version in openapi.yaml, say in its error table what is new (docs/changing.md), and run npm test.',
  );
});
