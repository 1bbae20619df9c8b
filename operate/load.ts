import { isDeepStrictEqual } from 'node:util';
import autocannon from 'autocannon';
import { Caller, inContract } from './caller.ts';
import { checkedNumber, command } from './command.ts';
import { plantsById, withTable } from './table.ts';

/* npm run load: creates plants as fast as a deployment, or the local run, takes them, and tells how it went. */

const USAGE = `Usage: npm run load -- BASE_URL --token TOKEN [--duration 10] [--connections 10] [--rate N] [--stack STACK | --local]

Creates plants for so many seconds, by so many connections, at most N a second in all. The token may also stand in the
variable PLANT_STORE_TOKEN. With --stack or --local it then looks into the plants table whether each plant that was
answered with 200 is there.
Plants with ids from 8000000000000000000 to 8999999999999999999 are left behind.`;

const FIRST_ID = 8_000_000_000_000_000_000n;
/** So many ids for each millisecond since 1970, so that two runs never meet. */
const IDS_A_MILLISECOND = 400_000n;

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
  const caller = new Caller(baseUrl, values.token);
  const duration = count('duration', values.duration);
  const connections = count('connections', values.connections);
  const rate = values.rate === undefined ? {} : { overallRate: count('rate', values.rate) };
  // fetch also proves the server's certificate, which autocannon does not.
  await caller.checkAccess();
  // Each id once: a service at fault may tell one twice.
  const created = new Set<string>();
  const refused: NotCreated[] = [];
  let next = FIRST_ID + BigInt(Date.now()) * IDS_A_MILLISECOND;

  const options: autocannon.Options = {
    url: `${caller.baseUrl}/plants`,
    duration,
    connections,
    ...rate,
    requests: [
      {
        method: 'POST',
        headers: { authorization: `Bearer ${caller.token}`, 'content-type': 'application/json' },
        setupRequest: (request) => {
          next += 1n;
          // The answer tells the name alone, so it carries the id.
          return { ...request, body: `{"id":${next},"name":"load ${next}"}` };
        },
        onResponse: (status, body, _, headers) => {
          // Its headers' names stand in the server's own casing.
          const contentType = Object.entries(headers ?? {}).find(([name]) => /^content-type$/i.test(name))?.[1];
          const outcome = outcomeOf(status, contentType?.toString(), body);
          if (typeof outcome === 'string') created.add(outcome);
          else refused.push(outcome);
        },
      },
    ],
  };
  const { promise: ended, resolve, reject } = Promise.withResolvers<autocannon.Result>();
  const run = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
  process.once('SIGINT', () => run.stop());
  const start = performance.now();
  const progress = setInterval(() => {
    const seconds = (performance.now() - start) / 1000;
    const perSecond = (created.size / seconds).toFixed(0);
    console.error(`${seconds.toFixed(0)} s: ${created.size} created, ${perSecond} a second, ${refused.length} refused`);
  }, 1000);
  const result = await ended;
  clearInterval(progress);

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
    const ids = [...created];
    const stored = await plantsById(table, ids);
    const missing = ids.filter(
      (id) => !isDeepStrictEqual(stored.get(id), { id: { N: id }, name: { S: `load ${id}` } }),
    );
    if (missing.length > 0) process.exitCode = 1;
    const examples = missing.length > 0 ? `, such as ${missing.slice(0, 5).join(', ')}` : '';
    console.log(
      `Of the ${created.size} created, ${created.size - missing.length} are stored exactly; ${missing.length} are not${examples}.`,
    );
  });
});

/** A kind of answer that created no plant, with an example. */
interface NotCreated {
  kind: string;
  example?: string;
}

/** The id of the plant that an answer says is created, or what it says else. */
function outcomeOf(status: number, contentType = 'no Content-Type', body: string): string | NotCreated {
  try {
    const answer = inContract(status, contentType, body);
    if (answer.status === 400) return { kind: `error ${answer.error}` };
    const [, id] = /^load (\d+)$/.exec(answer.plant.name) ?? [];
    return id ?? { kind: 'a 200 with another plant', example: JSON.stringify(answer.plant).slice(0, 200) };
  } catch (error) {
    const kind = `an answer outside the contract, status ${status}, ${contentType}`;
    return { kind, example: (error as Error).message };
  }
}
