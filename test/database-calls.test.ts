import { beforeEach, expect, test, vi } from 'vitest';
import { closedAtEnd } from './support/closed-at-end.ts';
import { startFailureProxy } from './support/dynamodb-proxy.ts';
import { startEngine } from './support/engine.ts';
import { contextWith, importHandler, sampleEvent, sampleNames } from './support/event.ts';
import { databaseCallsOf } from './support/permissions.ts';
import { allOperations } from './support/stack.ts';

const engine = closedAtEnd(await startEngine());
let proxy: Awaited<ReturnType<typeof startFailureProxy>>;
beforeEach(async () => {
  vi.spyOn(console, 'info').mockReturnValue();
  proxy = await startFailureProxy(engine.endpoint);
  return () => proxy.close();
});

test.each(allOperations)(
  '$operationId reads once at init, and makes exactly the calls that its role allows',
  async (operation) => {
    const handler = await importHandler(proxy.endpoint);
    // The warm-up at init.
    expect(proxy.calls).toEqual([`GetItem ${engine.accessTokensTable}`]);
    const events = sampleNames
      .map(sampleEvent)
      .filter(({ resource, httpMethod }) => resource === operation.path && httpMethod === operation.method);
    expect(events, `Add a sample event for ${operation.operationId} to events/.`).not.toEqual([]);
    for (const event of events) await handler(event, contextWith());
    expect([...new Set(proxy.calls)].toSorted()).toEqual(databaseCallsOf(operation));
  },
);
