import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { contractText } from '../../model/contract.ts';
import { DEVELOPMENT_TOKEN } from '../../model/development-token.ts';
import { clientsPage, makeClientFolder } from '../support/client-folder.ts';
import { type FakeResponse, startFakeService } from '../support/fake-service.ts';
import { listen } from '../support/listen.ts';
import { plantWith } from '../support/plant.ts';
import { startServiceWithEngine } from '../support/service.ts';

/* The steps of docs/clients.md, in a new folder, and with more members in the contract. */

const MEMBERS = `        parents: { type: array, items: { type: integer } }
        sizes: { type: array, items: { type: number } }
        place: { type: object, properties: { cell: { type: integer, format: int64 }, row: { type: integer, format: int32 } } }
`;
// The properties of Plant are last in its schema.
const contract = contractText().replace(/\n {4}Plant:\n( {6}.*\n)+/, `$&${MEMBERS}`);
const { folder, run } = makeClientFolder(contract);
const { plantStore } = await import(join(folder, 'client.ts'));

const { url, engine } = await startServiceWithEngine();
const client = plantStore(url, DEVELOPMENT_TOKEN);
const createWith = (body: object, sender = client) => sender.POST('/plants', { body });

// Without Retry-After, the client repeats a request at once.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));

const headers = { 'content-type': 'application/json' };
const success: FakeResponse = { status: 200, headers, body: '{}' };
const failure = (error: number, retryAfter?: string): FakeResponse => ({
  status: 400,
  headers: { ...headers, ...(retryAfter && { 'retry-after': retryAfter }) },
  body: `{"error":${error},"message":"The message."}`,
});

/**
 * Sends a request to a service with these responses, one after the other. Returns the result, and how many are left.
 */
async function sendTo(...responses: (FakeResponse | undefined)[]) {
  const fake = plantStore(await startFakeService(() => responses.shift()), 'TOKEN');
  const result = await createWith(plantWith(), fake).catch((thrown: Error) => ({ thrown }));
  return { ...result, left: responses.length };
}

test('the code in docs/clients.md passes tsc and creates its plant, and an id that is a number does not pass', async () => {
  const [, code = ''] = /```ts\n(.*?)```/s.exec(clientsPage) ?? [];
  const wrong =
    "// @ts-expect-error\nexport const wrong = () => client.POST('/plants', { body: { ...data, id: 7 } });\n";
  expect(await run(code.replace('http://127.0.0.1:3000', url) + wrong)).toBe('Aloe\n');
});

test.each([9223372036854775807n, -9223372036854775808n, 7n])('sends each digit of the id %s', async (id) => {
  expect(await createWith({ id, ...plantWith() })).toMatchObject({ data: plantWith() });
  expect(await engine.items(engine.plantsTable)).toContainEqual(expect.objectContaining({ id: { N: String(id) } }));
});

test.each([
  ['with its length', {}],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
])('in a response that is sent %s, reads each int64 as a bigint, and other numbers as numbers', async (_, length) => {
  const body = '{"id":9223372036854770009,"parents":[9007199254740993,1],"sizes":[2,2.5],"place":{"cell":7,"row":8}}';
  const data = {
    id: 9223372036854770009n,
    parents: [9007199254740993n, 1n],
    sizes: [2, 2.5],
    place: { cell: 7n, row: 8 },
  };
  expect((await sendTo({ ...success, headers: { ...headers, ...length }, body })).data).toEqual(data);
});

test('returns the Error of the contract', async () => {
  const id = 9223372036854775808n;
  const message = expect.stringContaining(`The member id was ${id}`);
  expect((await createWith({ id, ...plantWith() })).error).toEqual({ error: 400, message });
});

test.each([400, 401, 404, 409, 413, 415])('does not repeat a request after error %i', async (error) => {
  expect(await sendTo(failure(error), success)).toMatchObject({ error: { error }, left: 1 });
});

test.each([429, 500, 503, 504])('repeats a request after error %i, at most four times', async (error) => {
  expect(await sendTo(failure(error), success)).toMatchObject({ data: {}, left: 0 });
  expect(await sendTo(...Array(6).fill(failure(error)))).toMatchObject({ error: { error }, left: 1 });
});

test('waits for the seconds of Retry-After', async () => {
  const start = performance.now();
  expect(await sendTo(failure(503, '1'), success)).toMatchObject({ data: {} });
  // A timer may end a millisecond early.
  expect(performance.now() - start).toBeGreaterThan(990);
});

test('repeats a request without a response once', async () => {
  expect(await sendTo(undefined, success)).toMatchObject({ data: {}, left: 0 });
  expect(await sendTo(undefined, undefined, success)).toMatchObject({ thrown: new TypeError('fetch failed'), left: 1 });
});

test('repeats a request once after a status 5xx', async () => {
  const unavailable = { status: 502, headers, body: '{"message":"Internal server error"}' };
  expect(await sendTo(unavailable, success)).toMatchObject({ data: {}, left: 0 });
  const { thrown } = await sendTo(unavailable, unavailable, success);
  expect(thrown.message).toContain('/plants responded with status 502.');
});

test('gives up if the last of five attempts has no response', async () => {
  const responses = [...Array(4).fill(failure(429)), undefined, success];
  expect(await sendTo(...responses)).toMatchObject({ thrown: new TypeError('fetch failed'), left: 1 });
});

test.each([
  ['HTML', 200, 'text/html'],
  ['JSON with another status', 404, 'application/json'],
])('does not repeat a request to a wrong URL that responds with %s', async (_, status, type) => {
  const { thrown, left } = await sendTo({ status, headers: { 'content-type': type }, body: '{"error":503}' }, success);
  expect(thrown.message).toMatch(/^http.*\/plants responded with status \d+, and not as in openapi\.yaml\.$/);
  expect(left).toBe(1);
});

test('gives up after two attempts if nothing listens on the port', async () => {
  const server = createServer();
  const closed = plantStore(`http://${await listen(server)}`, 'TOKEN');
  server.close();
  const sleep = vi.spyOn(globalThis, 'setTimeout');
  await expect(createWith(plantWith(), closed)).rejects.toThrow('fetch failed');
  expect(sleep.mock.calls.filter(([, ms]) => ms === 0)).toHaveLength(1);
});
