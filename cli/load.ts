import { randomInt } from 'node:crypto';
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { parseResponse } from '../checks/client.ts';
import { checkedNumber, command } from './command.ts';
import { HttpClient } from './http-client.ts';
import { plantsById, type Table, withTable } from './table.ts';

/* npm run load: creates plants as fast as a deployment or the local run allows, and prints the results. */

const USAGE = `Usage: npm run load -- BASE_URL --token TOKEN [--duration 10] [--connections 10] [--rate N] [--stack STACK | --local]

Creates plants for 10 s over 10 connections, or as --duration and --connections say, and at most N per second in total.
The default of TOKEN is the variable PLANT_STORE_TOKEN. Ctrl+C ends the load early. With --stack or --local, it then
checks that the plants table has every plant that got a 200. Plants with ids from 8000000000000000000 to
8999999999999999999 are left behind.`;

const OPTIONS = {
  token: { type: 'string' },
  duration: { type: 'string', default: '10' },
  connections: { type: 'string', default: '10' },
  rate: { type: 'string' },
  stack: { type: 'string' },
  local: { type: 'boolean', default: false },
} as const;

const FIRST_ID = 8_000_000_000_000_000_000n;
/** Each run begins at a random multiple of this, so that two runs do not use the same ids. */
const IDS_PER_RUN = 1_000_000n;
const MAX_RUNS = 999_999_000_000;
const MAX_EXAMPLES = 5;

interface Results {
  /** The ids of the plants that got a 200. */
  created: string[];
  failures: Failure[];
  /** Milliseconds until each response or failure. */
  latency: RecordableHistogram;
}

/** A request that created no plant. */
interface Failure {
  kind: string;
  example?: string;
}

await command({ usage: USAGE, options: OPTIONS, operands: ['BASE_URL'] }, async (values, [baseUrl]) => {
  const client = new HttpClient(baseUrl, values.token);
  const count = (option: string, value: string) => checkedNumber(`--${option}`, value, 1, 999_999);
  const duration = count('duration', values.duration);
  const connections = count('connections', values.connections);
  const rate = values.rate === undefined ? Number.POSITIVE_INFINITY : count('rate', values.rate);
  await client.checkAccess();

  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  process.once('SIGINT', interrupt);
  const end = AbortSignal.any([AbortSignal.timeout(duration * 1000), interruption.signal]);
  const startedAt = performance.now();
  const results: Results = { created: [], failures: [], latency: createHistogram() };
  const { created, failures, latency } = results;
  const summary = () => {
    const seconds = (performance.now() - startedAt) / 1000;
    return `${created.length} plants created in ${seconds.toFixed(1)} s, ${(created.length / seconds).toFixed(0)} per second, ${failures.length} failed`;
  };
  const progress = setInterval(() => console.error(summary()), 1000);
  await createPlants(client, results, connections, rate, end);
  clearInterval(progress);
  process.off('SIGINT', interrupt);

  console.log(`${summary()}.`);
  const percentiles = [50, 90, 99, 99.9].map((percent) => `p${percent} ${latency.percentile(percent)}`);
  console.log(`Latency in ms: ${percentiles.join(', ')}, longest ${latency.max}.`);
  for (const [kind, alike] of Map.groupBy(failures, (failure) => failure.kind)) {
    const example = alike[0]?.example;
    console.log(`${kind}: ${alike.length}${example === undefined ? '' : `, such as ${example}`}`);
  }
  if (created.length === 0 || failures.some(({ kind }) => kind !== 'error 429')) process.exitCode = 1;
  if (values.stack === undefined && !values.local) return;
  await withTable(values.stack, 'PlantsTableName', (table) => checkStored(table, created));
});

/** Creates plants over so many connections, at most `rate` per second in total, until `end`. */
async function createPlants(
  client: HttpClient,
  { created, failures, latency }: Results,
  connections: number,
  rate: number,
  end: AbortSignal,
): Promise<void> {
  let nextId = FIRST_ID + BigInt(randomInt(MAX_RUNS)) * IDS_PER_RUN;
  let nextAt = 0;

  async function createPlantsInTurn(): Promise<void> {
    for (;;) {
      nextAt = Math.max(nextAt + 1000 / rate, performance.now());
      const wait = nextAt - performance.now();
      if (wait > 0) await sleep(wait, undefined, { signal: end }).catch(() => {});
      if (end.aborted) return;
      const id = String(nextId++);
      const sentAt = performance.now();
      const failure = await createPlant(client, id);
      latency.record(Math.ceil(performance.now() - sentAt));
      if (failure) failures.push(failure);
      else created.push(id);
    }
  }

  await Promise.all(Array.from({ length: connections }, createPlantsInTurn));
}

/** Creates a plant once. Returns why it failed, or nothing if the response is a 200 with the plant. */
async function createPlant(client: HttpClient, id: string): Promise<Failure | undefined> {
  const name = `load ${id}`;
  const response = await client.sendOnce({ body: `{"id":${id},"name":"${name}"}` }).catch((error: Error) => error);
  if (response instanceof Error) return { kind: 'no response', example: String(response.cause ?? response) };
  const { status, headers, text } = response;
  const contentType = headers['content-type'];
  try {
    const parsed = parseResponse(status, contentType, text);
    if (parsed.status === 400) return { kind: `error ${parsed.error}` };
    if (isDeepStrictEqual(parsed.body, { name })) return undefined;
    return { kind: 'a 200 with another plant', example: JSON.stringify(parsed.body).slice(0, 200) };
  } catch (error) {
    const kind = `not in the contract, status ${status}, ${contentType ?? 'no Content-Type'}`;
    return { kind, example: (error as Error).message };
  }
}

/** Prints how many of the created plants the table has, with the same members. */
async function checkStored(table: Table, created: string[]): Promise<void> {
  const stored = await plantsById(table, created);
  const isStored = (id: string) => isDeepStrictEqual(stored.get(id), { id: { N: id }, name: { S: `load ${id}` } });
  const missing = created.filter((id) => !isStored(id));
  const examples = missing.length > 0 ? `, such as ${missing.slice(0, MAX_EXAMPLES).join(', ')}` : '';
  console.log(
    `Of the ${created.length} plants created, ${created.length - missing.length} are stored exactly, ${missing.length} are not${examples}.`,
  );
  if (missing.length > 0) process.exitCode = 1;
}
