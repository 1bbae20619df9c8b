import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { type RunningFunctions, startServedFunctions } from '../tools/local/lambda.ts';
import { functionOfRoute, readTemplate } from '../tools/local/template.ts';
import { sharedAssembly } from './support/assembly.ts';
import { closedAtEnd } from './support/closed-at-end.ts';
import { startFailureProxy } from './support/dynamodb-proxy.ts';
import { startEngine } from './support/engine.ts';
import { eventWith, sampleEvent, sampleNames } from './support/event.ts';
import { databaseCallsOf } from './support/permissions.ts';

const assembly = await sharedAssembly();
const template = readTemplate(assembly);
const routes = template.routes.filter(({ integration }) => 'functionName' in integration);

const engine = closedAtEnd(await startEngine(template));
let proxy: Awaited<ReturnType<typeof startFailureProxy>>;
beforeEach(async () => {
  proxy = await startFailureProxy(engine.endpoint);
  return () => proxy.close();
});

/** Starts only one function, so that all recorded calls are its own. */
async function startFunctionOf(method: string, resource: string): Promise<RunningFunctions> {
  const functions = [functionOfRoute(template, method, resource)];
  const running = await startServedFunctions({ ...template, functions }, proxy, () => {});
  onTestFinished(running.close);
  return running;
}

test.each(routes)('$method $resource makes exactly the calls that its role allows', async ({ method, resource }) => {
  const { invoke } = await startFunctionOf(method, resource);
  const events = sampleNames.map(sampleEvent).filter((event) => event.resource === resource);
  for (const event of events.filter(({ httpMethod }) => httpMethod === method)) await invoke(event);
  const { name } = functionOfRoute(template, method, resource);
  expect([...new Set(proxy.calls)].toSorted()).toEqual(databaseCallsOf(name, assembly));
});

test('POST /plants reads once at init and once for a new token, and writes only for a valid body', async () => {
  const { invoke } = await startFunctionOf('POST', '/plants');
  const create = async (body: string) => invoke(eventWith({ body }));
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
