import { expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { contractBody } from '../../test/support/contract-body.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith, eventWith, sampleEvent } from '../../test/support/event.ts';
import { bodyOf, plantWith } from '../../test/support/plant.ts';

const engine = closedAtEnd(await startEngine());
const { handler: create } = await import('../create-plant/index.ts');
const { handler } = await import('./index.ts');
vi.spyOn(console, 'info').mockReturnValue();

/** Returns the body of the response to the sample event with another id, or with other changes. */
async function remove(id: string, changes = {}) {
  const event = { ...sampleEvent('delete-plant'), pathParameters: { id }, ...changes };
  const { headers = {}, ...response } = await handler(event, contextWith());
  return contractBody({ headers, ...response }, event);
}

test('deletes only the plant with the id, and responds with it; error 404 if it is repeated', async () => {
  const [id, next] = ['9223372036854775806', '9223372036854775807'];
  for (const each of [id, next]) await create(eventWith({ body: bodyOf(each) }), contextWith());
  expect(await remove(id)).toEqual(plantWith());
  expect(await remove(id)).toEqual({ error: 404, message: `There is no plant with the id ${id}.` });
  expect(await engine.stored(BigInt(id))).toBeUndefined();
  expect(await engine.stored(BigInt(next))).toEqual({ id: next, ...plantWith() });
});

test.each([
  ['one', {}, 400],
  ['1.0', {}, 400],
  ['1', { headers: {} }, 401],
])('deletes nothing for the id %s with the changes %j: error %i', async (id, changes, error) => {
  await create(eventWith({ body: bodyOf(1) }), contextWith());
  expect(await remove(id, changes)).toMatchObject({ error });
  expect(await engine.stored(1n)).toEqual({ id: '1', ...plantWith() });
});
