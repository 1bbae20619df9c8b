import type { APIGatewayProxyEvent } from 'aws-lambda';
import fc from 'fast-check';
import { beforeEach, expect, test, vi } from 'vitest';
import { anyPlant, anyText } from '../test/support/any-plant.ts';
import { contract, contractBody, isPlant } from '../test/support/contract-body.ts';
import { startEngine } from '../test/support/engine.ts';
import { bodyOf, contextWith, eventWith, importHandler, plantWith, TEXT_MEMBER } from '../test/support/event.ts';
import { DEVELOPMENT_TOKEN } from '../tools/local/development-token.ts';
import { digestOf, UNKNOWN_TOKEN } from './tokens/token.ts';

const engine = await startEngine();
// The module reads its environment when it is loaded.
process.env['ALLOW_ORIGINS'] = 'https://a.example,https://b.example';
const { handler } = await import('./index.ts');

let log: string[] = [];
beforeEach(() => {
  log = [];
  for (const level of ['info', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((line) => void log.push(JSON.stringify(line)));
  }
  return () => vi.restoreAllMocks();
});

const responseTo = async (event: unknown) => contractBody(await handler(event, contextWith()));
const responseToBody = (body: string | null) => responseTo(eventWith({ body }));

test('takes the last of repeated members, in any notation, and ignores unknown ones', async () => {
  await engine.clear(engine.plantsTable);
  const overruled = `${bodyOf('"overruled"').slice(1, -1)},"x":[{}],"${TEXT_MEMBER}":7,"constructor":2`;
  const escaped = `\\u00${TEXT_MEMBER.charCodeAt(0).toString(16)}${TEXT_MEMBER.slice(1)}`;
  const body = `\n{${overruled},"${escaped}":"\\u0000\\ud83c\\udf31" ,\t"id": -70.0e-1}`;
  const plant = plantWith('\0🌱');
  expect(await responseToBody(body)).toEqual(plant);
  expect(await engine.stored(-7n)).toEqual({ id: '-7', ...plant });
});

test('responds with error 401 to a request without a token, and logs a line, which an alarm counts', async () => {
  expect(await responseTo(eventWith({ headers: {} }))).toHaveProperty('error', 401);
  const lines = log.map((line) => JSON.parse(line));
  expect(lines).toMatchObject([{ operation: 'POST /plants', outcome: 'rejected', error: 401, version: '7' }]);
  // If the log were not the first middleware, it would be null.
  expect(lines[0].durationMs).toBeGreaterThanOrEqual(0);
});

test.each([
  ['https://a.example', 'https://a.example'],
  ['https://b.example', 'https://b.example'],
  ['https://c.example', undefined],
])('a page of %s can read an error if its origin is allowed', async (origin, allowed) => {
  const { headers } = await handler(eventWith({ headers: { Origin: origin } }), contextWith());
  expect(headers?.['Access-Control-Allow-Origin']).toBe(allowed);
  expect(headers?.['Access-Control-Expose-Headers']).toMatch('x-amz-apigw-id');
});

test.each([
  [404, { httpMethod: 'GET' }],
  [404, { resource: '/plants/{id}' }],
  // A hand-written event can have none.
  [undefined, { httpMethod: undefined, resource: null }],
])('responds with error %s to an event of the route %j, and then stores nothing', async (error, route) => {
  await engine.clear(engine.plantsTable);
  expect((await responseTo({ ...eventWith(), ...route }))['error']).toBe(error);
  expect(await engine.items(engine.plantsTable)).toHaveLength(error ? 0 : 1);
});

test('the priming event of init stores and logs nothing, even if the table has its token', async () => {
  await engine.putToken(UNKNOWN_TOKEN, 'primed', 2 ** 32);
  await engine.clear(engine.plantsTable);
  await importHandler();
  expect([await engine.items(engine.plantsTable), log]).toEqual([[], []]);
});

test('the priming event waits at most 1 s for the database, so that init ends in its 10 s', async () => {
  const limits = vi.spyOn(AbortSignal, 'timeout');
  await importHandler();
  expect(limits.mock.calls).toEqual([[1000]]);
});

// The number of random inputs for each property.
fc.configureGlobal({ numRuns: Number(process.env['PROPERTY_RUNS'] ?? 20) });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

test('stores any NewPlant exactly, and responds with its members', async () => {
  await fc.assert(
    fc.asyncProperty(int64, anyPlant, async (id, plant) => {
      // anyPlant does not know constraints of the contract that are about several members.
      fc.pre(isPlant(plant));
      await engine.clear(engine.plantsTable);
      expect(await responseToBody(bodyOf(id, plant))).toEqual(plant);
      expect(await engine.stored(id)).toEqual({ id: String(id), ...plant });
    }),
  );
});

test('responds to any token, media type and body with a success or a client error', async () => {
  const names = ['id', ...Object.keys(contract['components'].schemas.Plant.properties)];
  const values = names.map((name) => [name, fc.oneof(fc.integer(), anyText, fc.jsonValue())]);
  const nearPlant = fc.record(Object.fromEntries(values), { requiredKeys: [] });
  const nearPlantJson = nearPlant.map((value) => JSON.stringify(value));
  const body = fc.oneof(anyText, fc.json(), nearPlantJson, fc.constant(null));
  const usually = (value: string) => fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, fc.string());
  const headers = fc.record({
    Authorization: fc.oneof(usually(DEVELOPMENT_TOKEN), fc.base64String()).map((token) => `Bearer ${token}`),
    'Content-Type': usually('application/json'),
  });
  const event = fc.record({ body, headers, isBase64Encoded: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(event, async (changes) => {
      const { error } = await responseTo(eventWith(changes));
      expect([undefined, 400, 401, 409, 413, 415]).toContain(error);
    }),
  );
});

test.each([
  [401, { headers: null }],
  [500, null],
])('responds with error %i to the invalid event %j', async (error, event) => {
  expect(await responseTo(event)).toHaveProperty('error', error);
});

test('never logs a token, a digest or a body, and never responds with a token', async () => {
  const secretToken = `plantstore_${'S'.repeat(43)}`;
  const secrets = [DEVELOPMENT_TOKEN, secretToken].flatMap((token) => [token, digestOf(token)]);
  const events: Partial<APIGatewayProxyEvent>[] = [
    {},
    { body: bodyOf(1, plantWith('a secret plant')).slice(0, -1) },
    { body: bodyOf('"a secret plant"') },
    { body: bodyOf(1, plantWith('a secret plant')) },
    { headers: { Authorization: `Bearer ${secretToken}` } },
    { headers: { Authorization: `Basic ${secretToken}` } },
  ];
  for (const changes of events) {
    expect(JSON.stringify(await responseTo(eventWith(changes)))).not.toContain(secretToken);
  }
  expect(log).toHaveLength(events.length);
  for (const secret of [...secrets, 'secret plant']) expect(log.join()).not.toContain(secret);
});
