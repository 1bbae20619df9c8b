import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { inContract } from '../test/support/contract.ts';
import { functionBehind, type Route, readTemplate } from './template.ts';

/** The synthesized assembly with a change in one of its files. */
function assemblyWith(file: string, change: (content: Record<string, Record<string, unknown>>) => void): string {
  const assembly = mkdtempSync(join(tmpdir(), 'plant-store-'));
  onTestFinished(() => rmSync(assembly, { recursive: true }));
  for (const each of ['manifest.json', 'PlantStore.template.json']) {
    cpSync(join(inject('assembly'), each), join(assembly, each));
  }
  const content = JSON.parse(readFileSync(join(assembly, file), 'utf8'));
  change(content);
  writeFileSync(join(assembly, file), JSON.stringify(content));
  return assembly;
}
const templateWith = (resources: Record<string, unknown>) =>
  readTemplate(assemblyWith('PlantStore.template.json', ({ Resources }) => Object.assign(Resources ?? {}, resources)));

test.each([
  [0, ['Assets']],
  [2, ['PlantStore', 'Second']],
])('an assembly of %i stacks is refused with a sentence', (count, names) => {
  const assembly = assemblyWith('manifest.json', (manifest) => {
    const { PlantStore } = manifest['artifacts'] ?? {};
    const artifacts = names.map((name) => [name, name === 'Assets' ? { type: 'cdk:asset-manifest' } : PlantStore]);
    manifest['artifacts'] = Object.fromEntries(artifacts);
  });
  expect(() => readTemplate(assembly)).toThrow(`${assembly} holds ${count} stacks; the local run needs exactly one.`);
});

test('the routes stand from the most specific to the least: fixed, parameter, greedy; a method, any method', () => {
  const resource = (id: string, ParentId: string, PathPart: string) => [
    id,
    { Type: 'AWS::ApiGateway::Resource', Properties: { ParentId: { Ref: ParentId }, PathPart } },
  ];
  const ids = ['AGreedy', 'ABGreedy', 'AIdLeaves', 'AId', 'AB', 'A'];
  const method = (id: string, HttpMethod: string) => [
    `${id}${HttpMethod}`,
    {
      Type: 'AWS::ApiGateway::Method',
      Properties: { HttpMethod, ResourceId: { Ref: id }, Integration: { Type: 'AWS_PROXY', Uri: '' } },
    },
  ];
  const { routes } = templateWith(
    Object.fromEntries([
      resource('A', 'none', 'a'),
      resource('AB', 'A', 'b'),
      resource('AId', 'A', '{id}'),
      resource('AIdLeaves', 'AId', 'leaves'),
      resource('AGreedy', 'A', '{proxy+}'),
      resource('ABGreedy', 'AB', '{proxy+}'),
      ...ids.flatMap((id) => [method(id, 'ANY'), method(id, 'GET')]),
    ]),
  );
  const order = routes.map((route) => `${route.method} ${route.resource}`);
  const among = (...some: string[]) => order.filter((each) => some.includes(each));
  for (const expected of [
    ['GET /a/b', 'ANY /a/b', 'GET /a/{id}', 'ANY /a/{id}', 'GET /a/{proxy+}', 'ANY /a/{proxy+}', 'ANY /{proxy+}'],
    ['GET /a/b/{proxy+}', 'GET /a/{id}/leaves', 'GET /a/{proxy+}'],
    ['POST /plants', 'ANY /plants', 'ANY /{proxy+}'],
  ]) {
    expect(among(...expected)).toEqual(expected);
  }
});

test('a mock without a response template, as the preflight of a single origin is, answers its headers alone', () => {
  const Integration = {
    Type: 'MOCK',
    RequestTemplates: { 'application/json': '{ statusCode: 200 }' },
    PassthroughBehavior: 'NEVER',
    IntegrationResponses: [{ StatusCode: '200', ResponseParameters: { 'method.response.header.Own': "'x'" } }],
  };
  const Properties = { HttpMethod: 'OPTIONS', ResourceId: 'none', Integration };
  const { routes } = templateWith({ Own: { Type: 'AWS::ApiGateway::Method', Properties } });
  expect(routes.find(({ method }) => method === 'OPTIONS')?.integration).toMatchObject({
    response: { statusCode: 200, headers: { own: 'x' }, body: '' },
  });
});

test.each([
  [undefined, 29_000],
  [1234, 1234],
])('an integration’s timeout of %j is one of %i ms', (TimeoutInMillis, timeoutMs) => {
  const Integration = { Type: 'AWS_PROXY', Uri: '/functions/none/invocations', TimeoutInMillis };
  const Properties = { HttpMethod: 'HEAD', ResourceId: 'none', Integration };
  const { routes } = templateWith({ Own: { Type: 'AWS::ApiGateway::Method', Properties } });
  expect(routes.find(({ method }) => method === 'HEAD')).toEqual({
    method: 'HEAD',
    resource: '/',
    integration: { functionName: 'none', timeoutMs },
  });
});

test.each([
  [['*/*'], 'text/plain', true],
  [['image/png'], 'image/png', true],
  [['image/png'], 'text/plain', false],
  [undefined, 'text/plain', false],
])('of the binary media types %j, that %s is one is %j', (BinaryMediaTypes, mediaType, isBinary) => {
  const template = assemblyWith('PlantStore.template.json', ({ Resources }) => {
    const api = Object.values(Resources ?? {}).find(
      (resource) => (resource as { Type: string }).Type === 'AWS::ApiGateway::RestApi',
    );
    (api as { Properties: Record<string, unknown> }).Properties['BinaryMediaTypes'] = BinaryMediaTypes;
  });
  expect(readTemplate(template).isBinary(mediaType)).toBe(isBinary);
});

test.each([
  ['API_CONFIGURATION_ERROR', 500],
  ['DEFAULT_4XX', 400],
  ['DEFAULT_5XX', 500],
  ['INTEGRATION_TIMEOUT', 504],
  ['MISSING_AUTHENTICATION_TOKEN', 404],
  ['REQUEST_TOO_LARGE', 413],
  ['UNSUPPORTED_MEDIA_TYPE', 404],
])('the gateway response %s is error %i of the contract', (type, error) => {
  const response = readTemplate(inject('assembly')).gatewayResponses.get(type);
  expect(inContract(response ?? { statusCode: 0, headers: {}, body: '' })).toMatchObject({ error });
});

test('a value that refers to others is made of their logical ids, and of what stands for this account', () => {
  const { outputs, stage } = readTemplate(
    assemblyWith('PlantStore.template.json', ({ Outputs }) => {
      const parts = ['aws', { Ref: 'AWS::AccountId' }, { Ref: 'Some' }, { 'Fn::GetAtt': ['Other', 'Arn'] }];
      const names = ['Partition', 'Region', 'URLSuffix'].map((name) => ({ Ref: `AWS::${name}` }));
      Object.assign(Outputs ?? {}, { Own: { Value: { 'Fn::Join': ['|', [...parts, ...names]] } } });
    }),
  );
  expect(outputs['Own']).toBe('aws|000000000000|Some|Other|aws|us-east-1|amazonaws.com');
  expect(stage).toBe('v1');
});

test.each(['AWS::ApiGateway::RestApi', 'AWS::ApiGateway::Stage'])(
  'a stack of two %s, or of none, is refused',
  (Type) => {
    const sentence = `The local run needs exactly one ${Type} in the stack.`;
    expect(() => templateWith({ Second: { Type, Properties: {} } })).toThrow(sentence);
    const without = assemblyWith('PlantStore.template.json', (template) => {
      const others = Object.entries(template['Resources'] ?? {}).filter(
        ([, one]) => (one as { Type: string }).Type !== Type,
      );
      template['Resources'] = Object.fromEntries(others);
    });
    expect(() => readTemplate(without)).toThrow(sentence);
  },
);

test('an answer of the gateway’s own has the headers, status and body that it is given, in JSON', () => {
  const ownAnswer = (prefix: string) => ({
    StatusCode: '429',
    ResponseParameters: { [`${prefix}.header.Retry-After`]: "'1'", [`${prefix}.header.Vary`]: "'Origin'" },
    ResponseTemplates: { 'application/json': '{"error":429}' },
  });
  const mock = { Type: 'MOCK', IntegrationResponses: [ownAnswer('method.response')] };
  const { gatewayResponses, routes } = templateWith({
    OwnResponse: {
      Type: 'AWS::ApiGateway::GatewayResponse',
      Properties: { ResponseType: 'OWN', ...ownAnswer('gatewayresponse') },
    },
    OwnMethod: {
      Type: 'AWS::ApiGateway::Method',
      Properties: { HttpMethod: 'HEAD', ResourceId: 'none', Integration: mock },
    },
  });
  const answer = {
    statusCode: 429,
    headers: { 'retry-after': '1', vary: 'Origin', 'content-type': 'application/json' },
    body: '{"error":429}',
  };
  expect(gatewayResponses.get('OWN')).toEqual(answer);
  expect(routes.find(({ method }) => method === 'HEAD')?.integration).toMatchObject({ response: answer });
});

test('a route leads to its function, by its method or by any', () => {
  const route = (method: string, resource: string, functionName: string): Route => ({
    method,
    resource,
    integration: { functionName, timeoutMs: 1 },
  });
  const functions = ['A', 'AnyB', 'PostC'].map((name) => ({ name }));
  const routes = [route('GET', '/a', 'A'), route('ANY', '/b', 'AnyB'), route('POST', '/c', 'PostC')];
  for (const [method, resource, name] of [
    ['GET', '/a', 'A'],
    ['DELETE', '/b', 'AnyB'],
    ['POST', '/c', 'PostC'],
  ] as const) {
    expect(functionBehind({ routes, functions }, method, resource)).toEqual({ name });
  }
  expect(() => functionBehind({ routes, functions }, 'DELETE', '/a')).toThrow(
    'DELETE /a is no route to a function of the stack.',
  );
});

test('each function of the stack is behind a route, or asks one that is before a release; its bundle in the assembly', () => {
  const { routes, functions } = readTemplate(inject('assembly'));
  const served = routes.filter(({ integration }) => 'functionName' in integration);
  const behind = served.map(({ method, resource }) => functionBehind({ routes, functions }, method, resource));
  const asking = functions.filter(({ environment }) => environment['FUNCTION_ARN'] !== undefined);
  expect(asking).toHaveLength(behind.length);
  expect([...behind, ...asking].map(({ name }) => name).toSorted()).toEqual(
    functions.map(({ name }) => name).toSorted(),
  );
  for (const { assetDirectory } of functions) expect(existsSync(join(assetDirectory, 'index.mjs'))).toBe(true);
});

test('a function is configured as the stack has it, a table’s name in its variables', () => {
  const { functions } = readTemplate(
    assemblyWith('PlantStore.template.json', ({ Resources }) => {
      const Variables = { TABLE: { Ref: 'Plants' } };
      const Metadata = { 'aws:asset:path': 'asset.own' };
      const Properties = { Handler: 'own.run', Timeout: 7, MemorySize: 256, Environment: { Variables } };
      Object.assign(Resources ?? {}, { Own: { Type: 'AWS::Lambda::Function', Properties, Metadata } });
    }),
  );
  expect(functions.find(({ name }) => name === 'Own')).toEqual({
    name: 'Own',
    assetDirectory: expect.stringMatching(/^\/.+\/asset\.own$/),
    handler: 'own.run',
    timeoutSeconds: 7,
    memoryMegabytes: 256,
    environment: { TABLE: 'Plants' },
  });
});
