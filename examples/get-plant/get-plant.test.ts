import { expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { contractBody } from '../../test/support/contract-body.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith, eventWith, sampleEvent } from '../../test/support/event.ts';
import { bodyOf, plantWith } from '../../test/support/plant.ts';

closedAtEnd(await startEngine());
const { handler: create } = await import('../../functions/create-plant/index.ts');
const { handler } = await import('./index.ts');
vi.spyOn(console, 'info').mockReturnValue();

/** Returns the body of the response to the sample event with another id, or with other changes. */
async function get(id: string, changes = {}) {
  const event = { ...sampleEvent('get-plant'), pathParameters: { id }, ...changes };
  const { headers = {}, ...response } = await handler(event, contextWith());
  return contractBody({ headers, ...response }, event);
}

test.each([
  ['0', plantWith()],
  ['-9007199254740993', plantWith({ name: '' })],
])('returns the plant with the id %s', async (id, plant) => {
  await create(eventWith({ body: bodyOf(id, plant) }), contextWith());
  expect(await get(id)).toEqual(plant);
});

test('returns error 404 for an id without a plant, also if an id that differs by one has a plant', async () => {
  await create(eventWith({ body: bodyOf('9223372036854775807') }), contextWith());
  const message = 'There is no plant with the id 9223372036854775806.';
  expect(await get('9223372036854775806')).toEqual({ error: 404, message });
});

test.each(['one', '1.0', '1e1', '9223372036854775808'])('returns error 400 for the id %s', async (id) => {
  const message = expect.stringContaining(`The parameter id was "${id}"; it must be a whole number from `);
  expect(await get(id)).toEqual({ error: 400, message });
});

test('checks the token before the id', async () => {
  expect(await get('one', { headers: {} })).toMatchObject({ error: 401 });
});
