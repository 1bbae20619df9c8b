import { beforeEach, expect, test, vi } from 'vitest';
import { grantedOperations } from '../infra/operations.ts';
import { closedAtEnd } from './support/closed-at-end.ts';
import { startFailureProxy } from './support/dynamodb-proxy.ts';
import { startEngine } from './support/engine.ts';
import { contextWith, eventWith, importHandler, sampleEvent, sampleNames } from './support/event.ts';
import { databaseCallsOf } from './support/permissions.ts';
import { bodyOf, plantWith } from './support/plant.ts';

const engine = closedAtEnd(await startEngine());
let proxy: Awaited<ReturnType<typeof startFailureProxy>>;
beforeEach(async () => {
  vi.spyOn(console, 'info').mockReturnValue();
  proxy = await startFailureProxy(engine.endpoint);
  return () => proxy.close();
});

test.each(grantedOperations())('$operationId makes exactly the calls that its role allows', async (operation) => {
  const handler = await importHandler(operation.folder, proxy.endpoint);
  const events = sampleNames.map(sampleEvent).filter(({ resource }) => resource === operation.path);
  for (const event of events.filter(({ httpMethod }) => httpMethod === operation.method)) {
    await handler(event, contextWith());
  }
  expect([...new Set(proxy.calls)].toSorted()).toEqual(databaseCallsOf(operation));
});

test('POST /plants reads once at init and once for a new token, and writes only for a valid body', async () => {
  const handler = await importHandler('create-plant', proxy.endpoint);
  const create = (body: string) => handler(eventWith({ body }), contextWith());
  const read = `GetItem ${engine.accessTokensTable}`;
  const put = `PutItem ${engine.plantsTable}`;
  expect(proxy.calls).toEqual([read]);
  await create(bodyOf(1));
  expect(proxy.calls).toEqual([read, read, put]);
  await create(bodyOf(2));
  await create(bodyOf(2, plantWith({ name: 'another' })));
  for (const body of ['{', '{"id":"1"}', bodyOf(1, plantWith({ name: 'x'.repeat(500_000) }))]) await create(body);
  expect(proxy.calls.slice(3)).toEqual([put, put]);
});
