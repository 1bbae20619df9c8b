import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import makeTemporaryFolder from '../test/support/temporary-folder.ts';
import { checked, command } from '../tools/command.ts';
import { buildHandlers } from './build.ts';
import { startFakeServices } from './fake-services.ts';
import { measure, type Run } from './measure.ts';
import { markdown } from './report.ts';

/*
 * npm run bench: measures the cold starts of the deployed bundle and its peers, each on AWS's runtime client in a new
 * process. Prints a table, and writes it to docs/decisions.md.
 */

const options = { rounds: { type: 'string', default: '50' } } as const;
const removeTemporaryFolder = makeTemporaryFolder();

await command({ usage: 'Usage: npm run bench -- [--rounds 50]', options }, async (values) => {
  const rounds = Number(checked('--rounds', values.rounds, /^[1-9]\d{0,2}$/, 'a number from 1 to 999'));
  const fakes = await startFakeServices();
  const handlers = (await buildHandlers(fakes)).map((handler) => ({ ...handler, runs: [] as Run[] }));
  // The handlers run in turn, so that a slow minute of the machine affects all of them.
  for (let round = 1; round <= rounds; round += 1) {
    process.stderr.write(`\rround ${round} of ${rounds}  `);
    for (const handler of handlers) handler.runs.push(await measure(handler, fakes.environment));
  }

  const text = markdown(handlers);
  console.log(`\n${text}`);
  const document = join(import.meta.dirname, '../docs/decisions.md');
  const section = /(?<=<!-- bench -->\n).*(?=\n<!-- \/bench -->)/s;
  writeFileSync(
    document,
    readFileSync(document, 'utf8').replace(section, () => text),
  );
});
removeTemporaryFolder();
// Ends the fake services.
process.exit();
