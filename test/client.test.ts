import { beforeEach, expect, test, vi } from 'vitest';
import { ApiError, plantStore } from '../examples/client.ts';
import { DEVELOPMENT_TOKEN } from '../tools/local/development-token.ts';
import { type FakeResponse, startFakeService } from './support/fake-service.ts';
import { plantWith } from './support/plant.ts';
import { startServiceWithEngine } from './support/service.ts';

const { url, engine } = await startServiceWithEngine();
const send = plantStore(url, DEVELOPMENT_TOKEN);

// Without Retry-After, the client repeats a request at once.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));

const success: FakeResponse = { status: 200, headers: {}, body: '{}' };
const failure = (error: number, headers = {}): FakeResponse => ({
  status: 400,
  headers,
  body: `{"error":${error},"message":"The message."}`,
});

/** A function that sends requests to a service with these responses, one after the other. */
async function sendTo(...responses: (FakeResponse | undefined)[]) {
  return plantStore(await startFakeService(() => responses.shift()), 'TOKEN');
}

test.each([9223372036854770009n, -9223372036854775808n, 7n])('sends each digit of the id %s', async (id) => {
  expect(await send('POST', '/plants', { id, ...plantWith() })).toEqual(plantWith());
  expect(await engine.items(engine.plantsTable)).toContainEqual(expect.objectContaining({ id: { N: String(id) } }));
});

test('reads each id as a bigint with all its digits, and other numbers as numbers', async () => {
  const client = await sendTo({ ...success, body: '{"plants":[{"id":9223372036854770009,"height":1.5},{"id":7}]}' });
  const plants = [{ id: 9223372036854770009n, height: 1.5 }, { id: 7n }];
  expect(await client('GET', '/plants')).toEqual({ plants });
});

test('throws the Error of the contract', async () => {
  const id = 9223372036854775808n;
  const error = await send('POST', '/plants', { id, ...plantWith() }).catch((error) => error);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ error: 400, message: expect.stringContaining(`The member id was ${id}`) });
});

test.each([400, 401, 404, 409, 413, 415])('does not repeat a request after error %i', async (error) => {
  const client = await sendTo(failure(error), success);
  await expect(client('GET', '/plants')).rejects.toMatchObject({ error });
});

test.each([429, 500, 503, 504])('repeats a request after error %i', async (error) => {
  const client = await sendTo(failure(error), success);
  expect(await client('POST', '/plants', plantWith())).toEqual({});
});

test('waits for the seconds of Retry-After', async () => {
  const client = await sendTo(failure(503, { 'Retry-After': '1' }), success);
  const start = performance.now();
  await client('GET', '/plants');
  // A timer may end a millisecond early.
  expect(performance.now() - start).toBeGreaterThan(990);
});

test('repeats a request without a response, or with one that is not JSON', async () => {
  const client = await sendTo(undefined, { status: 502, headers: {}, body: '<html>' }, success);
  expect(await client('GET', '/plants')).toEqual({});
});

test('sends a request at most five times', async () => {
  const client = await sendTo(...Array.from({ length: 5 }, () => failure(503)), success);
  await expect(client('GET', '/plants')).rejects.toMatchObject({ error: 503 });
});
