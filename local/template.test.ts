import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, onTestFinished, test } from 'vitest';
import { inContract } from '../test/support/contract.ts';
import { answerOf, functionBehind, type Route, readTemplate } from './template.ts';

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

/** The template with such members in its API definition, in place of those of the same names. */
const templateOf = (changes: Record<string, unknown>) =>
  readTemplate(
    assemblyWith('PlantStore.template.json', ({ Resources }) => {
      const api = Object.values(Resources as Record<string, { Type: string; Properties: { Body: object } }>).find(
        ({ Type }) => Type === 'AWS::ApiGateway::RestApi',
      );
      Object.assign(api?.Properties.Body ?? {}, changes);
    }),
  );
const methodOf = (integration: unknown) => ({ 'x-amazon-apigateway-integration': integration });
const integrationOf = (integration: unknown) =>
  templateOf({ paths: { '/own': { head: methodOf(integration) } } }).routes[0]?.integration;

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
  const method = methodOf({ type: 'aws_proxy', uri: '' });
  const ofPath = { 'x-amazon-apigateway-any-method': method, get: method };
  const resources = ['/a/{proxy+}', '/a/b/{proxy+}', '/a/{id}/leaves', '/a/{id}', '/{proxy+}', '/a/b', '/a'];
  const { routes } = templateOf({ paths: Object.fromEntries(resources.map((resource) => [resource, ofPath])) });
  const order = routes.map((route) => `${route.method} ${route.resource}`);
  const among = (...some: string[]) => order.filter((each) => some.includes(each));
  for (const expected of [
    ['GET /a/b', 'ANY /a/b', 'GET /a/{id}', 'ANY /a/{id}', 'GET /a/{proxy+}', 'ANY /a/{proxy+}', 'ANY /{proxy+}'],
    ['GET /a/b/{proxy+}', 'GET /a/{id}/leaves', 'GET /a/{proxy+}'],
    ['GET /a', 'ANY /a', 'ANY /{proxy+}'],
  ]) {
    expect(among(...expected)).toEqual(expected);
  }
});

test('a mock is what the definition has, and without a response template its response has headers alone', () => {
  const response = { statusCode: '200', responseParameters: { 'method.response.header.Own': "'x'" } };
  const mock = { type: 'mock', responses: { default: response } };
  expect(integrationOf(mock)).toEqual(mock);
  expect(answerOf(response)).toMatchObject({ statusCode: 200, headers: { own: 'x' }, body: '' });
});

test.each([
  [undefined, 29_000],
  [1234, 1234],
])('an integration’s timeout of %j is one of %i ms', (timeoutInMillis, timeoutMs) => {
  const integration = { type: 'aws_proxy', uri: '/functions/none/invocations', timeoutInMillis };
  expect(integrationOf(integration)).toEqual({ functionName: 'none', timeoutMs });
});

test('a route has its method in upper case and its path', () => {
  const { routes } = templateOf({ paths: { '/own': { head: methodOf({ type: 'aws_proxy', uri: '' }) } } });
  expect(routes).toMatchObject([{ method: 'HEAD', resource: '/own' }]);
});

test.each([
  [['*/*'], 'text/plain', true],
  [['image/png'], 'image/png', true],
  [['image/png'], 'text/plain', false],
  [undefined, 'text/plain', false],
])('of the binary media types %j, that %s is one is %j', (binaryMediaTypes, mediaType, isBinary) => {
  const { isBinary: answers } = templateOf({ 'x-amazon-apigateway-binary-media-types': binaryMediaTypes });
  expect(answers(mediaType)).toBe(isBinary);
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
  const response = (prefix: string) => ({
    statusCode: '429',
    responseParameters: { [`${prefix}.header.Retry-After`]: "'1'", [`${prefix}.header.Vary`]: "'Origin'" },
    responseTemplates: { 'application/json': '{"error":429}' },
  });
  const answer = {
    statusCode: 429,
    headers: { 'retry-after': '1', vary: 'Origin', 'content-type': 'application/json' },
    body: '{"error":429}',
  };
  const gatewayResponses = { OWN: response('gatewayresponse') };
  const template = templateOf({ 'x-amazon-apigateway-gateway-responses': gatewayResponses });
  expect(template.gatewayResponses.get('OWN')).toEqual(answer);
  expect(answerOf(response('method.response'))).toEqual(answer);
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
