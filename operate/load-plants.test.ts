import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { interposedClient } from '../test/support/interposed-client.ts';
import { type Answered, type Sent, startStandIn } from '../test/support/stand-in-service.ts';
import { HttpClient } from './client.ts';
import { type LoadSum, loadPlants, notStored } from './load-plants.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const CREATED = (sent: Sent): Answered => ({
  status: 200,
  headers: JSON_TYPE,
  body: JSON.stringify({ name: nameOf(sent) }),
});

type Answer = (sent: Sent) => Answered | Promise<Answered>;

const nameOf = ({ body }: Sent): string => JSON.parse(body).name;
const idOf = (sent: Sent): string => nameOf(sent).replace('load ', '');

/**
 * Loads at once that are answered so, in turn, and are interrupted when they wait for further answers on every
 * connection: they have then seen all of these.
 */
async function loads(
  count: number,
  answers: Answer[],
  { connections = 1, rate }: { connections?: number; rate?: number },
) {
  const sent: Sent[] = [];
  const url = await startStandIn((request) => {
    sent.push(request);
    const answer = answers[sent.length - 1];
    if (answer) return answer(request);
    if (sent.length === answers.length + count * connections) process.emit('SIGINT');
    return new Promise(() => {});
  });
  const caller = new HttpClient(url, 'the-token');
  const load = { duration: 100, connections, rate, onProgress: () => {} };
  return { sent, results: await Promise.all(Array.from({ length: count }, () => loadPlants(caller, load))) };
}

async function answered(answers: Answer[], options: { connections?: number; rate?: number } = {}) {
  const { sent, results } = await loads(1, answers, options);
  const [result] = results;
  if (!result) throw new Error('There was no load.');
  return { sent, ...result };
}

const WRONG_PLANTS = ['another', 'load 7x', 'xload 7', 'load', 'load -7'];
const KINDS: Record<string, Answer[]> = {
  created: [CREATED],
  'told before': [() => ({ status: 200, headers: JSON_TYPE, body: '{"name":"load 7"}' })],
  'a 200 with another plant': WRONG_PLANTS.map((name) => () => ({
    status: 200,
    headers: JSON_TYPE,
    body: JSON.stringify({ name }),
  })),
  'error 429': [() => ({ status: 400, headers: JSON_TYPE, body: '{"error":429,"message":"x"}' })],
  'error 503': [() => ({ status: 400, headers: JSON_TYPE, body: '{"error":503,"message":"load 8"}' })],
  'an answer outside the contract, status 502, text/html': [
    () => ({ status: 502, headers: { 'CONTENT-TYPE': 'text/html' }, body: '<html>' }),
  ],
  'an answer outside the contract, status 403, application/json': [
    () => ({ status: 403, headers: JSON_TYPE, body: '{"name":"load 9"}' }),
  ],
  'an answer outside the contract, status 200, no Content-Type': [
    (sent) => ({ ...CREATED(sent), headers: { 'x-content-type': 'application/json', 'content-type-x': 'text/html' } }),
  ],
};

test('each plant that is answered with 200 is counted once, and all else by its kind', async () => {
  const answer = fc
    .constantFrom(...Object.keys(KINDS))
    .chain((kind) => fc.constantFrom(...(KINDS[kind] ?? [])).map((answer) => ({ kind, answer })));
  const everything = Object.entries(KINDS).flatMap(([kind, answers]) => answers.map((answer) => ({ kind, answer })));
  await fc.assert(
    fc.asyncProperty(
      fc.array(answer, { maxLength: 30 }),
      fc.integer({ min: 1, max: 4 }),
      async (script, connections) => {
        const { sent, created, refused, result } = await answered(
          script.map(({ answer }) => answer),
          { connections },
        );
        const expected = sent.filter((_, index) => script[index]?.kind === 'created').map(idOf);
        if (script.some(({ kind }) => kind === 'told before')) expected.push('7');
        expect(created).toEqual(new Set(expected));
        const others = script.map(({ kind }) => kind).filter((kind) => kind !== 'created' && kind !== 'told before');
        expect(refused.map(({ kind }) => kind).toSorted()).toEqual(others.toSorted());
        expect(result.errors).toBe(0);
      },
    ),
    { numRuns: 4, examples: [[[...everything, ...everything], 3]] },
  );
});

test('what is neither created nor an error is shown', async () => {
  const long = 'x'.repeat(1000);
  const { refused } = await answered([
    () => ({ status: 200, headers: JSON_TYPE, body: JSON.stringify({ name: long }) }),
    () => ({ status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad\ngateway</h1>' }),
    () => ({ status: 400, headers: JSON_TYPE, body: '{"error":503,"message":"x"}' }),
  ]);
  expect(refused.map(({ example }) => example)).toEqual([
    `{"name":"${long}`.slice(0, 200),
    '502, text/html, <h1>Bad gateway</h1>; the Content-Type must be application/json',
    undefined,
  ]);
});

test('each request is a plant of its own, created as any caller would', async () => {
  const { sent } = await answered(Array(20).fill(CREATED), { connections: 2 });
  for (const { method, path, headers, body } of sent) {
    expect({ method, path, ...headers }).toMatchObject({
      method: 'POST',
      path: '/plants',
      authorization: 'Bearer the-token',
      'content-type': 'application/json',
    });
    expect(body).toMatch(/^\{"id":(\d+),"name":"load \1"\}$/);
  }
  expect(new Set(sent.map(idOf)).size).toBe(sent.length);
});

test('the ids of two runs never meet, though they begin at the same moment and create a million plants', async () => {
  const { sent } = await loads(10, Array(20).fill(CREATED), {});
  const ids = sent.map((one) => BigInt(idOf(one))).toSorted((a, b) => (a < b ? -1 : 1));
  expect(ids[0]).toBeGreaterThan(8_000_000_000_000_000_000n);
  expect(ids.at(-1)).toBeLessThan(8_999_999_999_999_999_999n - 1_000_000n);
  const steps = ids.slice(1).map((id, index) => id - (ids[index] ?? 0n));
  const betweenRuns = steps.filter((step) => step !== 1n);
  expect(betweenRuns).toHaveLength(9);
  for (const step of betweenRuns) expect(step).toBeGreaterThan(999_900n);
});

test('no more than the rate are sent in a second, by all connections together', async () => {
  const upTo9 = fc.integer({ min: 1, max: 9 });
  await fc.assert(
    fc.asyncProperty(upTo9, upTo9, async (rate, connections) => {
      let requests = 0;
      const url = await startStandIn((sent) => {
        requests += 1;
        return CREATED(sent);
      });
      const load = { duration: 0.1, connections, rate, onProgress: () => {} };
      const { result } = await loadPlants(new HttpClient(url, 'the-token'), load);
      expect(requests).toBeLessThanOrEqual(rate * (1 + Math.floor(result.duration)));
    }),
    {
      numRuns: 3,
      examples: [
        [1, 9],
        [9, 1],
      ],
    },
  );
});

test('a latency is what a request waited for, with a rate too', async () => {
  const slow: Answer = async (sent) => {
    await new Promise((resolve) => setTimeout(resolve, 40));
    return CREATED(sent);
  };
  for (const rate of [{}, { rate: 5 }]) {
    const { result } = await answered([slow], rate);
    expect(result.latency.min).toBeGreaterThanOrEqual(39);
  }
});

test('progress tells what there is so far', async () => {
  const url = await startStandIn(CREATED);
  const told: LoadSum[] = [];
  const onProgress = ({ created, refused }: LoadSum) => told.push({ created: new Set(created), refused });
  const { created } = await loadPlants(new HttpClient(url, 'the-token'), { duration: 0.1, connections: 1, onProgress });
  expect(told.at(-1)).toEqual({ created, refused: [] });
});

test('it leaves nothing behind that would hold the process when it is interrupted', async () => {
  const before = process.listenerCount('SIGINT');
  await answered([CREATED]);
  expect(process.listenerCount('SIGINT')).toBe(before);
});

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.close());

test('of what was created, what is not stored exactly is told, and nothing else is looked up', async () => {
  const STATES = ['exactly', 'not', 'with another name', 'with a tag'] as const;
  let plantsSoFar = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...STATES), { maxLength: 6 }), async (states) => {
      const plants = states.map((state, index) => ({ id: String(plantsSoFar + index), state }));
      plantsSoFar += plants.length;
      for (const { id, state } of plants) {
        const Item = {
          id: { N: id },
          name: { S: state === 'with another name' ? `load ${id}0` : `load ${id}` },
          ...(state === 'with a tag' && { tag: { S: '' } }),
        };
        if (state !== 'not') await engine.client.send(new PutItemCommand({ TableName: engine.plantsTable, Item }));
      }
      const lookedUp: string[] = [];
      const client = interposedClient(engine, async (_, input, send) => {
        const asked = 'RequestItems' in input ? input.RequestItems?.[engine.plantsTable] : undefined;
        if (asked && 'Keys' in asked) lookedUp.push(...(asked.Keys ?? []).map(({ id }) => id?.N ?? ''));
        return await send(input);
      });
      const ids = plants.map(({ id }) => id);
      const missing = await notStored({ client, tableName: engine.plantsTable }, new Set(ids));
      expect(missing).toEqual(plants.filter(({ state }) => state !== 'exactly').map(({ id }) => id));
      expect(lookedUp.toSorted()).toEqual(ids.toSorted());
    }),
    { numRuns: 5, examples: [[[...STATES]]] },
  );
});
