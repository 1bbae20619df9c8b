import { HttpClient } from './client.ts';
import { checkedNumber, command } from './command.ts';
import { loadPlants, notStored } from './load-plants.ts';
import { withTable } from './table.ts';

/* npm run load: creates plants as fast as a deployment, or the local run, takes them, and tells how it went. */

const USAGE = `Usage: npm run load -- BASE_URL --token TOKEN [--duration 10] [--connections 10] [--rate N] [--stack STACK | --local]

Creates plants for so many seconds, by so many connections, at most N a second in all. The token may also stand in the
variable PLANT_STORE_TOKEN. With --stack or --local it then looks into the plants table whether each plant that was
answered with 200 is there.
Plants with ids from 8000000000000000000 to 8999999999999999999 are left behind.`;

const count = (option: string, value: string) => checkedNumber(`--${option}`, value, 1, 999_999);

const OPTIONS = {
  token: { type: 'string' },
  duration: { type: 'string', default: '10' },
  connections: { type: 'string', default: '10' },
  rate: { type: 'string' },
  stack: { type: 'string' },
  local: { type: 'boolean', default: false },
} as const;

await command({ usage: USAGE, options: OPTIONS, operands: ['BASE_URL'] }, async (values, [baseUrl]) => {
  const client = new HttpClient(baseUrl, values.token);
  const duration = count('duration', values.duration);
  const connections = count('connections', values.connections);
  const rate = values.rate === undefined ? undefined : count('rate', values.rate);
  // fetch verifies the server's certificate; autocannon does not.
  await client.checkAccess();

  const start = performance.now();
  const { created, refused, result } = await loadPlants(client, {
    duration,
    connections,
    rate,
    onProgress: (soFar) => {
      const seconds = (performance.now() - start) / 1000;
      const perSecond = (soFar.created.size / seconds).toFixed(0);
      console.error(
        `${seconds.toFixed(0)} s: ${soFar.created.size} created, ${perSecond} a second, ${soFar.refused.length} refused`,
      );
    },
  });

  const { p50, p90, p99, p99_9, max } = result.latency;
  console.log(
    `${created.size} plants created in ${result.duration} s, ${(created.size / result.duration).toFixed(0)} a second.`,
  );
  console.log(`Latency, ms: p50 ${p50}, p90 ${p90}, p99 ${p99}, p99.9 ${p99_9}, longest ${max}.`);
  const byKind = Map.groupBy(refused, ({ kind }) => kind);
  for (const [kind, alike] of [...byKind].toSorted(([a], [b]) => a.localeCompare(b))) {
    const example = alike[0]?.example;
    console.log(`${kind}: ${alike.length}${example === undefined ? '' : `, such as ${example}`}`);
  }
  console.log(`Without an answer: ${result.errors} (${result.timeouts} of them timed out).`);
  const notThrottled = refused.some(({ kind }) => kind !== 'error 429');
  if (created.size === 0 || notThrottled || result.errors > 0) process.exitCode = 1;

  if (values.stack === undefined && !values.local) return;
  await withTable(values.stack, 'PlantsTableName', async (table) => {
    const missing = await notStored(table, created);
    if (missing.length > 0) process.exitCode = 1;
    const examples = missing.length > 0 ? `, such as ${missing.slice(0, 5).join(', ')}` : '';
    console.log(
      `Of the ${created.size} created, ${created.size - missing.length} are stored exactly; ${missing.length} are not${examples}.`,
    );
  });
});
