import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedAssembly } from '../test/support/assembly.ts';
import { debuggable, functionOfRoute, readTemplate, servedFunctions } from './template.ts';

type Resources = Record<string, { Type: string; Properties: Record<string, object>; Metadata?: object }>;

const shared = await sharedAssembly();

/** Reads the synthesized assembly with changes to one of its files. */
function templateWith(file: string, change: (content: Record<string, Record<string, unknown>>) => void) {
  const assembly = mkdtempSync(join(tmpdir(), 'plant-store-'));
  for (const each of ['manifest.json', 'PlantStore.template.json']) {
    cpSync(join(shared, each), join(assembly, each));
  }
  const content = JSON.parse(readFileSync(join(assembly, file), 'utf8'));
  change(content);
  writeFileSync(join(assembly, file), JSON.stringify(content));
  return readTemplate(assembly);
}

const withResources = (change: (resources: Resources) => void) =>
  templateWith('PlantStore.template.json', (content) => change(content['Resources'] as Resources));

/** Replaces members of the API definition. */
const withApi = (members: Record<string, unknown>) =>
  withResources((resources) => {
    const api = Object.values(resources).find(({ Type }) => Type === 'AWS::ApiGateway::RestApi');
    Object.assign(api?.Properties['Body'] ?? {}, members);
  });
const methodWith = (integration: unknown) => ({ 'x-amazon-apigateway-integration': integration });

test.each([
  [0, ['Assets']],
  [2, ['PlantStore', 'Second']],
])('fails with %i stacks', (count, names) => {
  const read = () =>
    templateWith('manifest.json', (manifest) => {
      const { PlantStore } = manifest['artifacts'] ?? {};
      const artifacts = names.map((name) => [name, name === 'Assets' ? { type: 'cdk:asset-manifest' } : PlantStore]);
      manifest['artifacts'] = Object.fromEntries(artifacts);
    });
  expect(read).toThrow(`The local run needs exactly one stack; there are ${count}.`);
});

test.each(['RestApi', 'Stage'])('fails with two resources of type %s', (kind) => {
  const Type = `AWS::ApiGateway::${kind}`;
  const second = () => withResources((resources) => Object.assign(resources, { Second: { Type, Properties: {} } }));
  expect(second).toThrow(`The local run needs exactly one ${kind}; there are 2.`);
});

test('sorts the routes from the most to the least specific', () => {
  const method = methodWith({ type: 'aws_proxy', uri: '' });
  const methods = { 'x-amazon-apigateway-any-method': method, get: method };
  const resources = ['/a/{proxy+}', '/a/b/{proxy+}', '/a/{id}/leaves', '/a/{id}', '/{proxy+}', '/a/b', '/a'];
  const { routes } = withApi({ paths: Object.fromEntries(resources.map((resource) => [resource, methods])) });
  const order = routes.map((route) => `${route.method} ${route.resource}`);
  for (const expected of [
    ['GET /a/b', 'ANY /a/b', 'GET /a/{id}', 'ANY /a/{id}', 'GET /a/{proxy+}', 'ANY /a/{proxy+}', 'ANY /{proxy+}'],
    ['GET /a/b/{proxy+}', 'GET /a/{id}/leaves', 'GET /a/{proxy+}'],
    ['GET /a', 'ANY /a', 'ANY /{proxy+}'],
  ]) {
    expect(order.filter((route) => expected.includes(route))).toEqual(expected);
  }
});

test('reads function and mock integrations', () => {
  const responses = {
    default: {
      statusCode: '200',
      responseParameters: { 'method.response.header.Own': "'x'" },
      responseTemplates: { 'application/json': '{}' },
    },
  };
  const requestTemplates = { 'application/json': '' };
  const { routes } = withApi({
    paths: {
      '/a': { get: methodWith({ type: 'aws_proxy', uri: '/functions/none/invocations' }) },
      '/b': { put: methodWith({ type: 'aws_proxy', uri: '/functions/none/invocations', timeoutInMillis: 1234 }) },
      '/c': { head: methodWith({ type: 'mock', requestTemplates, responses }) },
    },
  });
  const mediaTypes = ['application/json'];
  const headers = { 'content-type': 'application/json' };
  expect(routes).toEqual([
    { method: 'GET', resource: '/a', integration: { functionName: 'none', timeoutMs: 29_000 } },
    { method: 'PUT', resource: '/b', integration: { functionName: 'none', timeoutMs: 1234 } },
    {
      method: 'HEAD',
      resource: '/c',
      integration: { mediaTypes, response: { statusCode: 200, headers: { ...headers, own: 'x' }, body: '{}' } },
    },
  ]);
});

test('reads the gateway responses', () => {
  const OWN = {
    statusCode: '429',
    responseParameters: { 'gatewayresponse.header.Retry-After': "'1'", 'gatewayresponse.header.Vary': "'Origin'" },
    responseTemplates: { 'application/json': '{"error":429}' },
  };
  const { gatewayResponses } = withApi({ 'x-amazon-apigateway-gateway-responses': { OWN } });
  const headers = { 'retry-after': '1', vary: 'Origin', 'content-type': 'application/json' };
  expect([...gatewayResponses]).toEqual([['OWN', { statusCode: 429, headers, body: '{"error":429}' }]]);
});

test.each([
  [['*/*'], true],
  [['image/png'], false],
  [undefined, false],
])('reads the binary media types %j as binary bodies: %j', (types, encodesBodies) => {
  expect(withApi({ 'x-amazon-apigateway-binary-media-types': types })).toMatchObject({ encodesBodies });
});

test('replaces references with logical ids and local values', () => {
  const { outputs, apiStage } = templateWith('PlantStore.template.json', ({ Outputs }) => {
    const parts = ['aws', { Ref: 'AWS::AccountId' }, { Ref: 'Some' }, { 'Fn::GetAtt': ['Other', 'Arn'] }];
    const names = ['Partition', 'Region', 'URLSuffix'].map((name) => ({ Ref: `AWS::${name}` }));
    Object.assign(Outputs ?? {}, { Own: { Value: { 'Fn::Join': ['|', [...parts, ...names]] } } });
  });
  expect(outputs['Own']).toBe('aws|000000000000|Some|Other|aws|us-east-1|amazonaws.com');
  expect(apiStage).toBe('v1');
});

test('reads a function’s configuration', () => {
  const { functions } = withResources((resources) => {
    const Variables = { TABLE: { Ref: 'Plants' } };
    const Metadata = { 'aws:asset:path': 'asset.own' };
    const Properties = { Handler: 'own.run', Timeout: 7, MemorySize: 256, Environment: { Variables } };
    Object.assign(resources, { Own: { Type: 'AWS::Lambda::Function', Properties, Metadata } });
  });
  expect(functions.find(({ name }) => name === 'Own')).toEqual({
    name: 'Own',
    assetDirectory: expect.stringMatching(/^\/.+\/asset\.own$/),
    handler: 'own.run',
    timeoutSeconds: 7,
    memoryMegabytes: 256,
    environmentVariables: { TABLE: 'Plants' },
  });
});

test('reads a function without variables', () => {
  const Metadata = { 'aws:asset:path': 'asset.own' };
  const { functions } = withResources((resources) => {
    Object.assign(resources, { Own: { Type: 'AWS::Lambda::Function', Properties: {}, Metadata } });
  });
  expect(functions.find(({ name }) => name === 'Own')).toMatchObject({ environmentVariables: {} });
});

test('reads a table with its indexes', () => {
  const GlobalSecondaryIndexes = [{ IndexName: 'byTag' }];
  const { tables } = withResources((resources) => {
    Object.assign(resources, { Own: { Type: 'AWS::DynamoDB::Table', Properties: { GlobalSecondaryIndexes } } });
  });
  expect(tables).toContainEqual({ TableName: 'Own', GlobalSecondaryIndexes });
});

test('finds the function of each route, and its bundle', () => {
  const template = readTemplate(shared);
  const toFunctions = template.routes.filter(({ integration }) => 'functionName' in integration);
  expect(toFunctions.map(({ method, resource }) => functionOfRoute(template, method, resource))).toEqual(
    servedFunctions(template),
  );
  for (const { assetDirectory } of template.functions) expect(existsSync(join(assetDirectory, 'index.mjs'))).toBe(true);
  expect(() => functionOfRoute(template, 'DELETE', '/plants')).toThrow(
    'DELETE /plants is not a route to a function of the stack.',
  );
});

test('gives each served function a debugger’s port, and all the longest timeout', async () => {
  const template = readTemplate(await sharedAssembly());
  const { functions, routes } = debuggable(template, 9229);
  expect(functions).toEqual(
    servedFunctions(template).map((each, index) => {
      return { ...each, timeoutSeconds: 2_147_483, inspectorPort: 9229 + index };
    }),
  );
  expect(routes.map(({ integration, ...route }) => route)).toEqual(
    template.routes.map(({ integration, ...route }) => route),
  );
  for (const { integration } of routes) {
    if ('functionName' in integration) expect(integration.timeoutMs).toBe(2_147_483_000);
  }
});
