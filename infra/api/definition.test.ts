import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import {
  apiDefinitionOf,
  defaultTemplate,
  gatewayResponsesOf,
  methodsOf,
  templateWith,
  withWaterPlant,
} from '../../test/support/stack.ts';

const ORIGIN = { allowOrigins: 'https://a.example' };

test.each([
  ['the contract', defaultTemplate()],
  ['two operations', templateWith({}, withWaterPlant())],
])('of %s each path, those between and all others have a method for what is no operation', (_what, template) => {
  const methods = methodsOf(template);
  const paths = [...new Set(methods.map(({ path }) => path))];
  const parents = paths.flatMap((path) => path.split('/').map((_, n, parts) => parts.slice(0, n).join('/') || '/'));
  const notFound = methods.filter(({ method }) => method === 'ANY').map(({ path }) => path);
  expect(notFound.toSorted()).toEqual([...new Set([...paths, ...parents, '/', '/{proxy+}'])].toSorted());
});

test('the definition is a valid document of OpenAPI 3.0, the newest that API Gateway imports', async () => {
  const definition = apiDefinitionOf(templateWith(ORIGIN, withWaterPlant()));
  const validator = new Validator();
  expect(await validator.validate(structuredClone(definition))).toEqual({ valid: true });
  expect(validator.version).toBe('3.0');
  for (const [path, methods] of Object.entries<Record<string, { parameters: { name: string }[] }>>(definition.paths)) {
    for (const { parameters } of Object.values(methods)) {
      expect(parameters.map(({ name }) => name)).toEqual(path.match(/(?<=\{)\w+/g) ?? []);
    }
  }
});

test('what is no operation is error 404 without a function', () => {
  for (const { method, integration, responses } of methodsOf(defaultTemplate())) {
    if (method !== 'ANY') continue;
    expect(integration.type).toBe('mock');
    expect(integration.requestTemplates).toEqual({ 'application/json': '{"statusCode":400}' });
    expect(Object.keys(integration.responses)).toEqual(['default']);
    const { statusCode, responseTemplates } = integration.responses.default;
    expect(statusCode).toBe('400');
    // The method must have the status of its integration response.
    expect(Object.keys(responses)).toEqual(['400']);
    expect(JSON.parse(responseTemplates['application/json'])).toEqual({
      error: 404,
      message: 'There is no such path or method.',
    });
  }
});

test('no body makes a method without a function fail', () => {
  const mocks = methodsOf(templateWith(ORIGIN, withWaterPlant())).filter(
    ({ integration }) => integration.type === 'mock',
  );
  expect(new Set(mocks.map(({ method }) => method))).toEqual(new Set(['ANY', 'OPTIONS']));
  for (const { integration } of mocks) {
    expect(integration).toMatchObject({
      contentHandling: 'CONVERT_TO_TEXT',
      passthroughBehavior: 'never',
      responses: { default: { contentHandling: 'CONVERT_TO_TEXT' } },
    });
  }
});

test('without origins there is no preflight and no CORS header', () => {
  expect(JSON.stringify(defaultTemplate().toJSON())).not.toMatch(/Access-Control|ALLOW_ORIGINS/);
});

/** With these a page can tell its user which request it was and when to repeat it. */
const EXPOSED = "'x-amz-apigw-id,Retry-After,WWW-Authenticate,x-amzn-Remapped-WWW-Authenticate'";

test.each([
  ['https://a.example', 'https://a.example'],
  ['https://a.example,https://b.example', '*'],
  ['*', '*'],
])('with the origins %s the gateway’s own responses allow %s', (allowOrigins, allowed) => {
  const template = templateWith({ allowOrigins }, withWaterPlant());
  for (const { responseParameters } of gatewayResponsesOf(template)) {
    expect(responseParameters).toMatchObject({
      'gatewayresponse.header.Access-Control-Allow-Origin': `'${allowed}'`,
      'gatewayresponse.header.Access-Control-Expose-Headers': EXPOSED,
    });
  }
  const notFound = methodsOf(template).filter(({ method }) => method === 'ANY');
  expect(notFound.length).toBeGreaterThan(0);
  for (const { integration } of notFound) {
    expect(integration.responses.default.responseParameters).toEqual({
      'method.response.header.Access-Control-Allow-Origin': `'${allowed}'`,
      'method.response.header.Access-Control-Expose-Headers': EXPOSED,
    });
  }
});

describe('a preflight', () => {
  const operations = withWaterPlant();
  const preflightsOf = (allowOrigins: string) =>
    methodsOf(templateWith({ allowOrigins }, operations)).filter(({ method }) => method === 'OPTIONS');
  const responseOf = (allowOrigins: string) => preflightsOf(allowOrigins)[0]?.integration.responses.default;

  test('lets a page send a token and JSON, and ask once an hour', () => {
    for (const { integration } of preflightsOf('https://a.example')) {
      expect(integration.requestTemplates).toEqual({ 'application/json': '{"statusCode":200}' });
      expect(integration.responses).toMatchObject({
        default: {
          statusCode: '200',
          responseParameters: {
            'method.response.header.Access-Control-Allow-Origin': "'https://a.example'",
            'method.response.header.Access-Control-Allow-Headers': "'Authorization,Content-Type'",
            'method.response.header.Access-Control-Max-Age': "'3600'",
            'method.response.header.Vary': "'Origin'",
          },
        },
      });
      expect(integration.responses.default).not.toHaveProperty('responseTemplates');
    }
  });

  test('is on each path of an operation, and no other, and allows the methods of that path', () => {
    const allowed = preflightsOf('https://a.example').map(({ path, integration: { type, responses } }) => {
      expect(type).toBe('mock');
      const methods = responses.default.responseParameters['method.response.header.Access-Control-Allow-Methods'];
      return [path, methods.replaceAll("'", '').split(',').toSorted()];
    });
    const byPath = Map.groupBy(operations, ({ path }) => path);
    expect(Object.fromEntries(allowed)).toEqual(
      Object.fromEntries([...byPath].map(([path, of]) => [path, of.map(({ method }) => method).toSorted()])),
    );
  });

  test('allows the first of several origins, and by its template each other one', () => {
    const { responseParameters, responseTemplates } = responseOf(
      'https://a.example,https://b.example,https://c.example',
    );
    expect(responseParameters['method.response.header.Access-Control-Allow-Origin']).toBe("'https://a.example'");
    expect(responseTemplates['application/json']).toContain(
      '#if($origin == "https://b.example" || $origin == "https://c.example")',
    );
  });

  test('of every origin does not vary', () => {
    expect(responseOf('*').responseParameters).not.toHaveProperty(['method.response.header.Vary']);
  });
});

test('each header of a mock’s response is declared by its method, without which it cannot be set', () => {
  for (const { integration, responses } of methodsOf(templateWith(ORIGIN, withWaterPlant()))) {
    if (integration.type !== 'mock') continue;
    const { statusCode, responseParameters } = integration.responses.default;
    expect(Object.keys(responses[statusCode].headers)).toEqual(
      Object.keys(responseParameters).map((name) => name.replace('method.response.header.', '')),
    );
  }
});
