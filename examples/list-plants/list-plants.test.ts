import { expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { contractBody } from '../../test/support/contract-body.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith, eventWith, sampleEvent } from '../../test/support/event.ts';
import { bodyOf, plantWith } from '../../test/support/plant.ts';

const engine = closedAtEnd(await startEngine());
const { handler: create } = await import('../../functions/create-plant/index.ts');
const { handler } = await import('./index.ts');
vi.spyOn(console, 'info').mockReturnValue();

/** Returns the response to the sample event with this query. */
async function list(queryStringParameters: object, changes = {}) {
  const event = { ...sampleEvent('list-plants'), queryStringParameters, ...changes };
  const { headers = {}, ...response } = await handler(event, contextWith());
  return { body: contractBody({ headers, ...response }, event), text: response.body };
}

test('lists each plant once, in pages, with every digit of its id', async () => {
  await engine.clear(engine.plantsTable);
  const ids = ['-9007199254740993', '9223372036854775806', '9223372036854775807'];
  for (const id of ids) await create(eventWith({ body: bodyOf(id) }), contextWith());
  const pages: string[] = [];
  for (let query: object | undefined = { limit: '1' }; query; ) {
    const { body, text } = await list(query);
    pages.push(text);
    query = body['cursor'] === undefined ? undefined : { limit: '1', cursor: body['cursor'] };
  }
  const listed = pages.flatMap((page) => page.match(/(?<="id":)-?\d+/g) ?? []);
  expect(listed.toSorted()).toEqual(ids);
  const plants = pages.flatMap((page) => JSON.parse(page).plants);
  expect(plants).toEqual(ids.map(() => ({ id: expect.any(Number), ...plantWith() })));
});

test('lists 20 plants by default', async () => {
  for (let id = 1; id <= 21; id += 1) await create(eventWith({ body: bodyOf(id) }), contextWith());
  const { body } = await list({});
  expect(body['plants']).toHaveLength(20);
});

test.each([
  [{ limit: '0' }, 'The parameter limit was "0"; it must be >= 1.'],
  [{ limit: '101' }, 'The parameter limit was "101"; it must be <= 100.'],
  [{ limit: '1.0' }, 'The parameter limit was "1.0"; it must be a whole number from 1 to 100.'],
  [{ cursor: '1e1' }, expect.stringContaining('The parameter cursor was "1e1"; it must be a whole number from ')],
])('returns error 400 for the query %j', async (query, message) => {
  expect((await list(query)).body).toEqual({ error: 400, message });
});

test('checks the token before the query', async () => {
  expect((await list({ limit: '0' }, { headers: {} })).body).toMatchObject({ error: 401 });
});
