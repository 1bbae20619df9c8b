import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import makeTemporaryFolder from '../test/support/temporary-folder.ts';
import { checked, command } from '../tools/command.ts';
import { projectRoot } from '../tools/project-root.ts';
import { buildHandlers } from './build.ts';
import { startFakeServices } from './fake-services.ts';
import { measure } from './measure.ts';
import { type MeasuredHandler, markdown } from './report.ts';

/*
 * npm run bench: measures the deployed bundle and its peers, each on AWS's runtime client in a new process. Prints a
 * table, and writes it to docs/cost-and-performance.md.
 */

const options = { rounds: { type: 'string', default: '20' } } as const;
const removeTemporaryFolder = makeTemporaryFolder();

await command({ usage: 'Usage: npm run bench -- [--rounds 20]', options }, async (values) => {
  const rounds = Number(checked('--rounds', values.rounds, /^[1-9]\d{0,2}$/, 'a number from 1 to 999'));
  const fakes = await startFakeServices();
  const handlers: MeasuredHandler[] = (await buildHandlers(fakes)).map((handler) => ({ ...handler, runs: [] }));
  // The handlers run in turn, so that a slow minute of the machine affects all of them.
  for (let round = 1; round <= rounds; round += 1) {
    process.stderr.write(`\rround ${round} of ${rounds}  `);
    for (const handler of handlers) handler.runs.push(await measure(handler, fakes.environment));
  }

  const text = markdown(handlers);
  console.log(`\n${text}`);
  const document = join(projectRoot, 'docs/cost-and-performance.md');
  const section = /(?<=<!-- bench -->\n).*(?=\n<!-- \/bench -->)/s;
  writeFileSync(
    document,
    readFileSync(document, 'utf8').replace(section, () => text),
  );
});
removeTemporaryFolder();
// Ends the fake services.
process.exit();
