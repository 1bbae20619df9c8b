import { expect, test } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith, handlerOf, sampleEvent } from '../../test/support/event.ts';

const engine = closedAtEnd(await startEngine());
const handler = handlerOf(await import('./index.ts'));

test('deletes the plant, and responds with it', async () => {
  await engine.put(engine.plantsTable, { id: { N: '1' }, name: { S: 'Aloe' } });
  const response = await handler(sampleEvent('delete-plant'), contextWith());
  expect(response).toMatchObject({ statusCode: 200, body: '{"name":"Aloe"}' });
  expect(await engine.items(engine.plantsTable)).toEqual([]);
});
