import { expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { contractBody } from '../../test/support/contract-body.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith, eventWith, sampleEvent } from '../../test/support/event.ts';
import { bodyOf, plantWith, untaggedPlantWith } from '../../test/support/plant.ts';

closedAtEnd(await startEngine());
const { handler: create } = await import('../create-plant/index.ts');
const { handler } = await import('./index.ts');
vi.spyOn(console, 'info').mockReturnValue();

/** Returns the response to the sample event with another tag and query. */
async function list(tag: string, queryStringParameters = {}, changes = {}) {
  const event = { ...sampleEvent('list-plants-by-tag'), pathParameters: { tag }, queryStringParameters, ...changes };
  const { headers = {}, ...response } = await handler(event, contextWith());
  return { body: contractBody({ headers, ...response }, event), text: response.body };
}

test('lists each plant with the tag once, in pages, with every digit of its id', async () => {
  const ids = ['-9007199254740993', '9223372036854775806', '9223372036854775807'];
  for (const id of ids) await create(eventWith({ body: bodyOf(id, plantWith({ tag: 'a b' })) }), contextWith());
  await create(eventWith({ body: bodyOf(1, plantWith({ tag: 'a' })) }), contextWith());
  await create(eventWith({ body: bodyOf(2, untaggedPlantWith()) }), contextWith());
  const listed: string[] = [];
  for (let query: object | undefined = { limit: '1' }; query; ) {
    const { body, text } = await list('a b', query);
    listed.push(...(text.match(/(?<="id":)-?\d+/g) ?? []));
    query = body['cursor'] === undefined ? undefined : { limit: '1', cursor: body['cursor'] };
  }
  expect(listed.toSorted()).toEqual(ids);
});

test('lists no plants for an unknown tag', async () => {
  expect((await list('unknown')).body).toEqual({ plants: [] });
});

test('returns error 400 for a tag that is longer than a key can be', async () => {
  const message = expect.stringMatching(/^The parameter tag was ".*…"; it must have at most 512 characters\.$/);
  expect((await list('🌱'.repeat(513))).body).toEqual({ error: 400, message });
  expect((await list('🌱'.repeat(512))).body).toEqual({ plants: [] });
});

test('checks the token before the tag', async () => {
  expect((await list('', {}, { headers: {} })).body).toMatchObject({ error: 401 });
});
