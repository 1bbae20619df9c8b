import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type Deployment, deploy } from '../local/deploy.ts';
import { functionBehind, readTemplate } from '../local/template.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { eventWith, sampleEvent, sampleNames } from './support/event.ts';
import { startFaultProxy } from './support/fault-proxy.ts';
import { databaseCallsOf } from './support/permissions.ts';

const assembly = inject('assembly');
const template = readTemplate(assembly);
const routes = template.routes.filter(({ integration }) => 'functionName' in integration);

let engine: Engine;
let proxy: Awaited<ReturnType<typeof startFaultProxy>>;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.close());
beforeEach(async () => {
  proxy = await startFaultProxy(engine.endpoint);
  return () => proxy.close();
});

/** One function alone, so that the database sees no other's calls. */
async function deployBehind(method: string, resource: string): Promise<Deployment> {
  return deploy({ ...template, functions: [functionBehind(template, method, resource)] }, proxy, () => {});
}

describe.each(routes)('the bundle of $method $resource', ({ method, resource }) => {
  const { name } = functionBehind(template, method, resource);

  test('makes exactly those calls to the database that its role allows', async () => {
    const deployment = await deployBehind(method, resource);
    const events = sampleNames.map(sampleEvent).filter((event) => event.resource === resource);
    for (const event of events.filter(({ httpMethod }) => httpMethod === method)) await deployment.invoke(event);
    expect([...new Set(proxy.calls)].toSorted()).toEqual(databaseCallsOf(name, assembly));
    await deployment.close();
  });
});

describe('of its calls to the database POST /plants', () => {
  const create = async (deployment: Deployment, body: string) => deployment.invoke(eventWith({ body }));
  let read: string;
  let put: string;
  let deployment: Deployment;
  beforeEach(async () => {
    read = `GetItem ${engine.accessTokensTable}`;
    put = `PutItem ${engine.plantsTable}`;
    deployment = await deployBehind('POST', '/plants');
    return () => deployment.close();
  });

  test('makes one read at init, one read of a token a minute, and one put a request', async () => {
    expect(proxy.calls).toEqual([read]);
    await create(deployment, '{"id":1,"name":"x"}');
    expect(proxy.calls).toEqual([read, read, put]);
    await create(deployment, '{"id":2,"name":"y"}');
    await create(deployment, '{"id":2,"name":"z"}');
    expect(proxy.calls.slice(3)).toEqual([put, put]);
  });

  test('makes none for a request that is refused before', async () => {
    await create(deployment, '{"id":1,"name":"x"}');
    const before = proxy.calls.length;
    for (const body of ['{', '{"id":"1"}', `{"id":1,"name":"${'x'.repeat(500_000)}"}`]) await create(deployment, body);
    expect(proxy.calls.length).toBe(before);
  });
});
