import { beforeEach, expect, test, vi } from 'vitest';
import { toItem } from '#shared/dynamodb/attributes.ts';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { contractBody } from '../../test/support/contract-body.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith, eventWith, sampleEvent } from '../../test/support/event.ts';
import { bodyOf, plantWith } from '../../test/support/plant.ts';

const engine = closedAtEnd(await startEngine());
const { handler: create } = await import('../../functions/create-plant/index.ts');
const { handler } = await import('./index.ts');
vi.spyOn(console, 'info').mockReturnValue();
beforeEach(() => engine.clear(engine.plantsTable));

/** Returns the response to the sample event with this query. */
async function list(queryStringParameters: object, changes = {}) {
  const event = { ...sampleEvent('list-plants'), queryStringParameters, ...changes };
  const { headers = {}, ...response } = await handler(event, contextWith());
  return { body: contractBody({ headers, ...response }, event), text: response.body };
}

/** Returns the JSON of each page. */
async function listPages(limit: string): Promise<string[]> {
  const pages: string[] = [];
  for (let query: object | undefined = { limit }; query; ) {
    const { body, text } = await list(query);
    pages.push(text);
    query = body['cursor'] === undefined ? undefined : { limit, cursor: body['cursor'] };
  }
  return pages;
}

const idsIn = (pages: string[]) => pages.flatMap((page) => page.match(/(?<="id":)-?\d+/g) ?? []).toSorted();

test('lists each plant once, in pages, with every digit of its id', async () => {
  const ids = ['-9007199254740993', '9223372036854775806', '9223372036854775807'];
  for (const id of ids) await create(eventWith({ body: bodyOf(id) }), contextWith());
  const pages = await listPages('1');
  expect(idsIn(pages)).toEqual(ids);
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
  [{ cursor: '1e1' }, 'The parameter cursor was "1e1"; it must match pattern "^-?\\d{1,19}$".'],
  [{ cursor: '' }, 'The parameter cursor was ""; it must match pattern "^-?\\d{1,19}$".'],
])('returns error 400 for the query %j', async (query, message) => {
  expect((await list(query)).body).toEqual({ error: 400, message });
});

test('checks the token before the query', async () => {
  expect((await list({ limit: '0' }, { headers: {} })).body).toMatchObject({ error: 401 });
});

test('ends a page before its plants are too large for a response of Lambda', async () => {
  const ids = ['1', '2', '3'];
  const item = toItem(plantWith({ name: '\0'.repeat(349_000) }));
  for (const id of ids) await engine.put(engine.plantsTable, { ...item, id: { N: id } });
  const pages = await listPages('100');
  expect(idsIn(pages)).toEqual(ids);
  // A response of Lambda has the body as a JSON string, and at most 6,291,556 bytes.
  for (const page of pages) expect(JSON.stringify(page).length).toBeLessThan(6_000_000);
});
