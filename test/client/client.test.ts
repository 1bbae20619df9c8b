import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { contractText } from '../../model/contract.ts';
import { DEVELOPMENT_TOKEN } from '../../model/development-token.ts';
import { projectRoot } from '../../model/project-root.ts';
import { type FakeResponse, startFakeService } from '../support/fake-service.ts';
import { listen } from '../support/listen.ts';
import { plantWith } from '../support/plant.ts';
import { startServiceWithEngine } from '../support/service.ts';

/* The steps of docs/clients.md, in a new folder, and with more members in the contract. */

const MEMBERS = `        parents: { type: array, items: { type: integer } }
        sizes: { type: array, items: { type: number } }
        place: { type: object, properties: { cell: { type: integer, format: int64 }, row: { type: integer, format: int32 } } }
`;
const folder = mkdtempSync(join(tmpdir(), 'client-'));
for (const file of ['examples/client.ts', 'examples/client-types.mjs', 'test/package.json']) {
  cpSync(join(projectRoot, file), join(folder, file.replace(/.*\//, '')));
}
symlinkSync(join(projectRoot, 'test/node_modules'), join(folder, 'node_modules'));
// The properties of Plant are last in its schema.
writeFileSync(join(folder, 'openapi.yaml'), contractText().replace(/\n {4}Plant:\n( {6}.*\n)+/, `$&${MEMBERS}`));
const run = (file: string, ...args: string[]) => execFileSync(file, args, { cwd: folder, encoding: 'utf8' });
run('node', 'client-types.mjs');
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

/** Sends a request to a service with these responses, one after the other. Returns the result, and how many are left. */
async function sendTo(...responses: (FakeResponse | undefined)[]) {
  const fake = plantStore(await startFakeService(() => responses.shift()), 'TOKEN');
  const result = await createWith(plantWith(), fake).catch((thrown: Error) => ({ thrown }));
  return { ...result, left: responses.length };
}

test('the code in docs/clients.md has the right types, and an id that is a number does not', () => {
  const [, code = ''] = /```ts\n(.*?)```/s.exec(readFileSync(join(projectRoot, 'docs/clients.md'), 'utf8')) ?? [];
  const wrong = "// @ts-expect-error\nawait client.POST('/plants', { body: { ...data, id: 7 } });\n";
  writeFileSync(join(folder, 'usage.ts'), `declare const TOKEN: string;\n${code}${wrong}`);
  const options = '--strict --noEmit --module nodenext --target es2024 --allowImportingTsExtensions';
  expect(() => run('node', 'node_modules/.bin/tsc', ...options.split(' '), 'usage.ts')).not.toThrow();
});

test.each([9223372036854770009n, -9223372036854775808n, 7n])('sends each digit of the id %s', async (id) => {
  expect(await createWith({ id, ...plantWith() })).toMatchObject({ data: plantWith() });
  expect(await engine.items(engine.plantsTable)).toContainEqual(expect.objectContaining({ id: { N: String(id) } }));
});

test.each([{}, { 'transfer-encoding': 'chunked' }])(
  'reads each int64 as a bigint, and other numbers as numbers',
  async (length) => {
    const body = '{"id":9223372036854770009,"parents":[9007199254740993,1],"sizes":[2,2.5],"place":{"cell":7,"row":8}}';
    const data = {
      id: 9223372036854770009n,
      parents: [9007199254740993n, 1n],
      sizes: [2, 2.5],
      place: { cell: 7n, row: 8 },
    };
    expect((await sendTo({ ...success, headers: { ...headers, ...length }, body })).data).toEqual(data);
  },
);

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
