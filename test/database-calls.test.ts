import { beforeEach, expect, test, vi } from 'vitest';
import { closedAtEnd } from './support/closed-at-end.ts';
import { startFailureProxy } from './support/dynamodb-proxy.ts';
import { startEngine } from './support/engine.ts';
import { contextWith, importHandler, sampleEvent, sampleNames } from './support/event.ts';
import { functionPermissions } from './support/permissions.ts';

const engine = closedAtEnd(await startEngine());
let proxy: Awaited<ReturnType<typeof startFailureProxy>>;
beforeEach(async () => {
  vi.spyOn(console, 'info').mockReturnValue();
  proxy = await startFailureProxy(engine.endpoint);
  return () => proxy.close();
});

test('the function reads once at init, and makes exactly the calls that its role allows', async () => {
  const handler = await importHandler(proxy.endpoint);
  // The warm-up at init.
  expect(proxy.calls).toEqual([`GetItem ${engine.accessTokensTable}`]);
  for (const name of sampleNames) await handler(sampleEvent(name), contextWith());
  const allowed = functionPermissions().flatMap((permission) => /^dynamodb:(.*)\.Arn$/.exec(permission)?.[1] ?? []);
  expect([...new Set(proxy.calls)].toSorted()).toEqual(allowed);
});
