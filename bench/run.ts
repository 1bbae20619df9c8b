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
console.log('| handler | init, ms | invocation, ms | sum / floor | half of the sums, ms |');
console.log('| --- | --- | --- | --- | --- |');
for (const { name, runs } of handlers) {
  const [init, invocation] = [quantile(runs, 'initMs').toFixed(0), quantile(runs, 'invocationMs').toFixed(1)];
  const ratio = quantile(runs, 'sumMs') / quantile(handlers[0]?.runs ?? [], 'sumMs');
  const spread = [0.25, 0.75].map((share) => quantile(runs, 'sumMs', share).toFixed(0)).join(' to ');
  console.log(`| ${[name, init, invocation, ratio.toFixed(2), spread].join(' | ')} |`);
}
// Ends the fake services.
process.exit();

/** Returns the figure that this share of the runs is below, by default the median. */
function quantile(runs: Run[], figure: keyof Run, share = 0.5): number {
  const sorted = runs.map((run) => run[figure]).toSorted((a, b) => a - b);
  return Number(sorted[Math.floor(runs.length * share)]);
}
