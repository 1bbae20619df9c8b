import { randomInt } from 'node:crypto';
import { createHistogram } from 'node:perf_hooks';
import { isDeepStrictEqual } from 'node:util';
import { parseResponse } from '../functions/pre-traffic-hook/client.ts';
import { checkedNumber, command } from './command.ts';
import { HttpClient } from './http-client.ts';
import { findTable, plantsById, type Table } from './table.ts';

const USAGE = `Usage: npm run load -- BASE_URL [--token TOKEN] [--duration 10] [--connections 10] [--stack STACK]

A load test: creates plants for --duration seconds over --connections connections, as fast as the responses come, and
prints the rate, the latency and the reasons of failures. TOKEN is by default the environment variable
PLANT_STORE_TOKEN. Ctrl-C ends the load test early. With --stack, or if BASE_URL is on this machine (127.0.0.1 or
localhost), it then checks that the plants table contains every plant whose response was a 200. The exit status is 1 if
one is missing, if a request fails with another error than 429, or if all fail. The plants are not deleted; their ids are from 8000000000000000000 to 8999999999999999999.`;

const OPTIONS = {
  token: { type: 'string' },
  duration: { type: 'string', default: '10' },
  connections: { type: 'string', default: '10' },
  stack: { type: 'string' },
} as const;

const FIRST_ID = 8_000_000_000_000_000_000n;
/** Each run begins at a random multiple of this number, so that two runs almost never use the same ids. */
const IDS_PER_RUN = 1_000_000n;
/** The number of possible starts. The last one leaves 10^12 ids before 8999999999999999999. */
const POSSIBLE_STARTS = 999_999_000_000;
/** Maximum number of failure reasons, and of ids, in the output. */
const MAX_EXAMPLES = 5;

await command({ usage: USAGE, options: OPTIONS, args: ['BASE_URL'] }, async (values, [baseUrl]) => {
  const client = new HttpClient(baseUrl, values.token);
  const duration = checkedNumber('--duration', values.duration, 1, 999_999);
  const connections = checkedNumber('--connections', values.connections, 1, 999_999);
  const isLocal = ['127.0.0.1', 'localhost'].includes(URL.parse(client.baseUrl)?.hostname ?? '');
  const table = isLocal || values.stack !== undefined ? await findTable(values.stack, 'PlantsTableName') : undefined;
  await client.checkAccess();

  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  // npm passes the signal on, so it comes twice.
  process.on('SIGINT', interrupt);
  const end = AbortSignal.any([AbortSignal.timeout(duration * 1000), interruption.signal]);
  const startedAt = performance.now();
  const latency = createHistogram();
  /** The ids of the plants whose response was a 200. */
  const created: string[] = [];
  /** The reasons why the other requests failed. */
  const failures: string[] = [];
  let nextId = FIRST_ID + BigInt(randomInt(POSSIBLE_STARTS)) * IDS_PER_RUN;

  /** Uses one connection until the end: sends a request after each response. */
  async function createPlants(): Promise<void> {
    while (!end.aborted) {
      const id = String(nextId++);
      const sentAt = performance.now();
      const failure = await sendCreatePlant(client, id);
      latency.record(Math.ceil(performance.now() - sentAt));
      if (failure) failures.push(failure);
      else created.push(id);
    }
  }

  const summary = () => {
    const seconds = (performance.now() - startedAt) / 1000;
    return `${created.length} plants created in ${seconds.toFixed(1)} s, ${(created.length / seconds).toFixed(0)} per second, ${failures.length} failed`;
  };
  const progress = setInterval(() => console.error(summary()), 1000);
  await Promise.all(Array.from({ length: connections }, createPlants));
  clearInterval(progress);
  process.off('SIGINT', interrupt);

  console.log(`${summary()}.`);
  const percentiles = [50, 90, 99, 99.9].map((percent) => `p${percent} ${latency.percentile(percent)}`);
  console.log(`Latency in ms: ${percentiles.join(', ')}, longest ${latency.max}.`);
  const reasons = [...Map.groupBy(failures, (reason) => reason)].slice(0, MAX_EXAMPLES);
  for (const [reason, { length }] of reasons) console.log(`${reason}: ${length}`);
  if (created.length === 0 || failures.some((reason) => reason !== 'error 429')) process.exitCode = 1;
  if (table) await checkStored(table, created);
});

/** Sends one request. Returns the reason if it failed, or undefined if the response is a 200 with the plant. */
async function sendCreatePlant(client: HttpClient, id: string): Promise<string | undefined> {
  const name = `load ${id}`;
  try {
    const { status, headers, text } = await client.sendOnce({ body: `{"id":${id},"name":"${name}"}` });
    const response = parseResponse(status, headers['content-type'], text);
    if (response.status === 400) return `error ${response.error}`;
    return isDeepStrictEqual(response.body, { name }) ? undefined : `a 200 with a wrong plant, ${text.slice(0, 200)}`;
  } catch (error) {
    const { message, cause } = error as Error;
    return cause === undefined ? message : `no response, ${cause}`;
  }
}

/** Prints how many of the created plants the table contains with exactly the same members. */
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
