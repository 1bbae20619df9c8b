import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { type Deployment, deploy } from '../local/deploy.ts';
import { projectRoot } from '../local/synthesize.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { eventWith } from './support/event.ts';
import { startFaultProxy } from './support/fault-proxy.ts';

const assembly = inject('assembly');
let engine: Engine;
let directory: string;
let proxy: Awaited<ReturnType<typeof startFaultProxy>>;
let deployment: Deployment;
beforeAll(async () => {
  engine = await startEngine();
  directory = engine.template.functions[0]?.assetDirectory ?? '';
});
afterAll(() => engine.close());
beforeEach(async () => {
  proxy = await startFaultProxy(engine.endpoint);
  deployment = await deploy(engine.template, proxy, () => {});
  return async () => {
    await deployment.close();
    proxy.close();
  };
});

const bundle = () => readFileSync(join(directory, 'index.mjs'));
const invoke = (body = '{"id":1,"name":"x"}') =>
  [...deployment.functions.values()][0]?.invoke(JSON.stringify(eventWith({ body })));

test('the bundle is one file of at most 230 KB, 75 KB zipped', () => {
  expect(readdirSync(directory)).toEqual(['index.mjs']);
  expect(bundle().length).toBeLessThanOrEqual(230_000);
  expect(gzipSync(bundle(), { level: 9 }).length).toBeLessThanOrEqual(75_000);
});

test.each(['sourceMappingURL', 'eval(', 'new Function', 'ajv/dist', 'fromIni', 'fromSSO', '169.254.170.2'])(
  'the bundle holds no %s',
  (unwanted) => {
    expect(bundle().includes(unwanted)).toBe(false);
  },
);

test('init loads no undici, no compiler of schemas, no web streams and no WebCrypto', () => {
  const script = `await import(${JSON.stringify(join(directory, 'index.mjs'))}); console.log(process.moduleLoadList.join('\\n'));`;
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint },
    encoding: 'utf8',
  });
  expect(loaded).toContain('NativeModule https');
  for (const unwanted of ['undici', 'NativeModule vm', 'webstreams', 'webcrypto'])
    expect(loaded).not.toContain(unwanted);
});

test('the stack sets no Node.js option', () => {
  expect(engine.template.functions[0]?.environment).not.toHaveProperty('NODE_OPTIONS');
});

test('an environment reads once at init, a token once a minute, and puts once a request', async () => {
  expect(proxy.requests).toEqual(['GetItem']);
  await invoke();
  expect(proxy.requests).toEqual(['GetItem', 'GetItem', 'PutItem']);
  await invoke('{"id":2,"name":"y"}');
  await invoke('{"id":2,"name":"z"}');
  expect(proxy.requests.slice(3)).toEqual(['PutItem', 'PutItem']);
});

test('a request that is refused before the store makes no request of it', async () => {
  await invoke();
  const before = proxy.requests.length;
  for (const body of ['{', '{"id":"1"}', `{"id":1,"name":"${'x'.repeat(500_000)}"}`]) await invoke(body);
  expect(proxy.requests.length).toBe(before);
});

test('the store’s calls that a function makes are exactly those that its role allows', async () => {
  await invoke('{"id":3,"name":"x"}');
  await invoke('{"id":3,"name":"different"}');
  const { Resources } = JSON.parse(readFileSync(join(assembly, 'PlantStore.template.json'), 'utf8')) as Assembly;
  const allowed = Object.values(Resources)
    .filter(({ Type }) => Type === 'AWS::IAM::Policy')
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .filter(({ Action }) => String(Action).startsWith('dynamodb:'))
    .map(({ Action, Resource }) => `${Action} ${Resource['Fn::GetAtt'][0]}`);
  expect([...proxy.permissions].toSorted()).toEqual(allowed.toSorted());
});

test('npm run stack-trace names the sources of a position in the bundle', () => {
  const lines = bundle().toString().split('\n');
  const line = lines.findIndex((text) => text.includes('is in use by a different plant'));
  const column = (lines[line] ?? '').indexOf('is in use by a different plant') + 1;
  const output = execFileSync(process.execPath, ['operate/stack-trace.ts', join(assembly, 'create-plant.mjs.map')], {
    cwd: projectRoot,
    input: `Error: no\n    at a (file:///var/task/index.mjs:${line + 1}:${column})\n`,
    encoding: 'utf8',
  });
  expect(output).toMatch(/^Error: no\n {4}at a \(functions\/create-plant\/plant-store\.ts:\d+:\d+\)\n$/);
});

interface Assembly {
  Resources: Record<
    string,
    {
      Type: string;
      Properties: { PolicyDocument: { Statement: { Action: unknown; Resource: { 'Fn::GetAtt': string[] } }[] } };
    }
  >;
}
