import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedAssembly } from '../../test/support/assembly.ts';
import { functionOfRoute, readTemplate, servedFunctions, withDebuggerPorts } from './template.ts';

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

test('sorts the routes from the most to the least specific', () => {
  const method = methodWith({ type: 'aws_proxy', uri: '' });
  const methods = { 'x-amazon-apigateway-any-method': method, get: method };
  const resources = ['/a/{proxy+}', '/a/b/{proxy+}', '/a/{zone}/leaves', '/a/{zone}', '/{proxy+}', '/a/b', '/a'];
  const { routes } = withApi({ paths: Object.fromEntries(resources.map((resource) => [resource, methods])) });
  const order = routes.map((route) => `${route.method} ${route.resource}`);
  for (const expected of [
    ['GET /a/b', 'ANY /a/b', 'GET /a/{zone}', 'ANY /a/{zone}', 'GET /a/{proxy+}', 'ANY /a/{proxy+}', 'ANY /{proxy+}'],
    ['GET /a/b/{proxy+}', 'GET /a/{zone}/leaves', 'GET /a/{proxy+}'],
    ['GET /a', 'ANY /a', 'ANY /{proxy+}'],
  ]) {
    expect(order.filter((route) => expected.includes(route))).toEqual(expected);
  }
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

test('finds the function of each route, its bundle and its variables', () => {
  const template = readTemplate(shared);
  const toFunctions = template.routes.filter(({ integration }) => 'functionName' in integration);
  expect(toFunctions.map(({ method, resource }) => functionOfRoute(template, method, resource))).toEqual(
    servedFunctions(template),
  );
  expect(toFunctions).not.toEqual([]);
  for (const { assetDirectory, environmentVariables } of template.functions) {
    expect(existsSync(join(assetDirectory, 'index.mjs'))).toBe(true);
    expect(environmentVariables['ACCESS_TOKENS_TABLE_NAME']).toBe(template.outputs['AccessTokensTableName']);
  }
  expect(() => functionOfRoute(template, 'DELETE', '/plants')).toThrow(
    'DELETE /plants is not a route to a function of the stack.',
  );
});

test('gives each served function a debugger’s port and the longest timeout', async () => {
  const template = readTemplate(await sharedAssembly());
  const { functions } = withDebuggerPorts(template, 9229);
  expect(functions).toEqual(
    servedFunctions(template).map((each, index) => {
      return { ...each, timeoutSeconds: 2_147_483, inspectorPort: 9229 + index };
    }),
  );
});
