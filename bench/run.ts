import makeTemporaryFolder from '../test/support/temporary-folder.ts';
import { command, requireMatch } from '../tools/command.ts';
import { buildHandlers } from './build.ts';
import { startFakeServices } from './fake-services.ts';
import { measure, type Run } from './measure.ts';
import { markdown } from './report.ts';

/*
 * npm run bench: measures the cold starts of the deployed bundle and its peers, each on AWS's runtime client in a new
 * process. Prints the table of docs/decisions.md.
 */

const options = { rounds: { type: 'string', default: '50' } } as const;
process.on('exit', makeTemporaryFolder());

await command({ usage: 'Usage: npm run bench -- [--rounds 50]', options }, async (values) => {
  const rounds = Number(requireMatch('--rounds', values.rounds, /^[1-9]\d{0,2}$/, 'a number from 1 to 999'));
  const fakes = await startFakeServices();
  const handlers = (await buildHandlers(fakes.jwt)).map((handler) => ({ ...handler, runs: [] as Run[] }));
  // The handlers run in turn, so that a slow minute of the machine affects all of them.
  for (let round = 1; round <= rounds; round += 1) {
    process.stderr.write(`\rround ${round} of ${rounds}  `);
    for (const handler of handlers) handler.runs.push(await measure(handler, fakes.environment));
  }
  console.log(`\n${markdown(handlers)}`);
});
// Ends the fake services.
process.exit();
