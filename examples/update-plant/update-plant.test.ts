import { expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { contractBody } from '../../test/support/contract-body.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith, eventWith, sampleEvent } from '../../test/support/event.ts';
import { bodyOf, plantWith, untaggedPlantWith } from '../../test/support/plant.ts';

const engine = closedAtEnd(await startEngine());
const { handler: create } = await import('../create-plant/index.ts');
const { handler } = await import('./index.ts');
vi.spyOn(console, 'info').mockReturnValue();

/** Returns the body of the response to the sample event with another id and body, or with other changes. */
async function update(id: string, plant: object, changes = {}) {
  const event = { ...sampleEvent('update-plant'), pathParameters: { id }, body: JSON.stringify(plant), ...changes };
  const { headers = {}, ...response } = await handler(event, contextWith());
  return contractBody({ headers, ...response }, event);
}

test.each(['0', '-9007199254740993', '9223372036854775807'])('replaces the plant with the id %s', async (id) => {
  await create(eventWith({ body: bodyOf(id, plantWith({ tag: 'old' })) }), contextWith());
  const plant = untaggedPlantWith({ name: 'new' });
  for (const _ of ['once', 'again']) expect(await update(id, plant)).toEqual(plant);
  expect(await engine.stored(BigInt(id))).toEqual({ id, ...plant });
  const repeated = await create(eventWith({ body: bodyOf(id, plantWith({ tag: 'old' })) }), contextWith());
  expect(JSON.parse(repeated.body)).toMatchObject({ error: 409 });
});

test('ignores an id in the body, and unknown members', async () => {
  await create(eventWith({ body: bodyOf(1) }), contextWith());
  expect(await update('1', { ...plantWith({ name: 'new' }), id: 2, unknown: [null] })).toEqual(
    plantWith({ name: 'new' }),
  );
  expect(await engine.stored(2n)).toBeUndefined();
});

test('returns error 404 for an id without a plant, and stores nothing', async () => {
  expect(await update('404', plantWith())).toEqual({ error: 404, message: 'There is no plant with the id 404.' });
  expect(await engine.stored(404n)).toBeUndefined();
});

test('returns error 413 for a plant that is too large, and changes nothing', async () => {
  await create(eventWith({ body: bodyOf(413) }), contextWith());
  expect(await update('413', plantWith({ name: 'x'.repeat(410_000) }))).toMatchObject({ error: 413 });
  expect(await engine.stored(413n)).toEqual({ id: '413', ...plantWith() });
});

test('describes each wrong part of the request', async () => {
  const { message } = await update('one', plantWith({ name: 7 as never }));
  expect(message).toMatch(
    /^The parameter id was "one"; it must be a whole number .* The member name was 7; it must be a str/,
  );
});

test('checks the token before the id and the body', async () => {
  expect(await update('one', {}, { headers: {} })).toMatchObject({ error: 401 });
});
