import { cpus } from 'node:os';
import makeTemporaryFolder from '../test/support/temporary-folder.ts';
import { startFakeServices } from './fake-services.ts';
import { bundleHandlers } from './handlers.ts';
import { measure, type Run } from './measure.ts';

/* Measures cold starts, each on AWS's runtime client in a new process. Prints the table of docs/decisions.md. */

const ROUNDS = 50;

process.on('exit', makeTemporaryFolder());
const fakes = await startFakeServices();
const handlers = (await bundleHandlers(fakes.jwt)).map((handler) => ({ ...handler, runs: [] as Run[] }));
// The handlers run in turn, so that a slow minute of the machine affects all of them.
for (let round = 1; round <= ROUNDS; round += 1) {
  process.stderr.write(`\rround ${round} of ${ROUNDS}  `);
  for (const handler of handlers) handler.runs.push(await measure(handler, fakes.environment));
}
const machine = `${cpus().length} cores of ${cpus()[0]?.model}, Node.js ${process.versions.node}`;
console.log(`\nMeasured on ${new Date().toISOString().slice(0, 10)} (${machine}). Medians of ${ROUNDS} rounds.\n`);
console.log('| handler | init, ms | invocation, ms | sum / floor |');
console.log('| --- | --- | --- | --- |');
for (const { name, runs } of handlers) {
  const [init, invocation] = [median(runs, 'initMs').toFixed(0), median(runs, 'invocationMs').toFixed(1)];
  const ratio = median(runs, 'sumMs') / median(handlers[0]?.runs ?? [], 'sumMs');
  console.log(`| ${[name, init, invocation, ratio.toFixed(2)].join(' | ')} |`);
}
// Ends the fake services.
process.exit();

function median(runs: Run[], figure: keyof Run): number {
  const sorted = runs.map((run) => run[figure]).toSorted((a, b) => a - b);
  return Number(sorted[Math.floor(runs.length / 2)]);
}
