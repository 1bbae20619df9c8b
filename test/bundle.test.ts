import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { type Deployment, deploy } from '../local/lambda.ts';
import { functionOfRoute, readTemplate } from '../local/template.ts';
import { sharedAssembly } from './support/assembly.ts';
import { closedAtEnd } from './support/closed-at-end.ts';
import { startFaultProxy } from './support/dynamodb-proxy.ts';
import { startEngine } from './support/engine.ts';
import { eventWith, sampleEvent, sampleNames } from './support/event.ts';
import { databaseCallsOf } from './support/permissions.ts';

const assembly = await sharedAssembly();
const template = readTemplate(assembly);
const routes = template.routes.filter(({ integration }) => 'functionName' in integration);

const engine = closedAtEnd(await startEngine(template));
let proxy: Awaited<ReturnType<typeof startFaultProxy>>;
beforeEach(async () => {
  proxy = await startFaultProxy(engine.endpoint);
  return () => proxy.close();
});

/** Deploys only one function, so that all recorded calls are its own. */
async function deployFunctionOf(method: string, resource: string): Promise<Deployment> {
  const functions = [functionOfRoute(template, method, resource)];
  const deployment = await deploy({ ...template, functions }, proxy, () => {});
  onTestFinished(deployment.close);
  return deployment;
}

test.each(routes)('$method $resource makes exactly the calls that its role allows', async ({ method, resource }) => {
  const deployment = await deployFunctionOf(method, resource);
  const events = sampleNames.map(sampleEvent).filter((event) => event.resource === resource);
  for (const event of events.filter(({ httpMethod }) => httpMethod === method)) await deployment.invoke(event);
  const { name } = functionOfRoute(template, method, resource);
  expect([...new Set(proxy.calls)].toSorted()).toEqual(databaseCallsOf(name, assembly));
});

test('POST /plants reads once at init, then each token once a minute, and writes once for a valid request', async () => {
  const deployment = await deployFunctionOf('POST', '/plants');
  const create = async (body: string) => deployment.invoke(eventWith({ body }));
  const read = `GetItem ${engine.accessTokensTable}`;
  const put = `PutItem ${engine.plantsTable}`;
  expect(proxy.calls).toEqual([read]);
  await create('{"id":1,"name":"x"}');
  expect(proxy.calls).toEqual([read, read, put]);
  await create('{"id":2,"name":"y"}');
  await create('{"id":2,"name":"z"}');
  for (const body of ['{', '{"id":"1"}', `{"id":1,"name":"${'x'.repeat(500_000)}"}`]) await create(body);
  expect(proxy.calls.slice(3)).toEqual([put, put]);
});
