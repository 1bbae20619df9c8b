import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import {
  apiDefinitionOf,
  gatewayResponsesOf,
  methodsOf,
  templateWith,
  twoOperations,
  waterPlant,
} from '../../test/support/stack.ts';

const A = 'https://a.example';
const template = templateWith({ allowOrigins: A });
const mocks = methodsOf(template).filter(({ integration }) => integration.type === 'mock');

test('each operation has its route, and no other route reaches a function', () => {
  const routes = methodsOf(template).filter(({ integration }) => integration.type === 'aws_proxy');
  expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
    twoOperations.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
});

test('each path of an operation, each parent of it, and all other paths have a method for unknown requests', () => {
  const { path } = waterPlant;
  const notFound = methodsOf(templateWith({}, [waterPlant])).filter(({ method }) => method === 'ANY');
  expect(notFound.map((method) => method.path).toSorted()).toEqual(
    ['/', '/{proxy+}', '/plants', '/plants/{id}', path].toSorted(),
  );
});

test('the definition is a valid OpenAPI 3.0 document, the newest version that API Gateway imports', async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(apiDefinitionOf(template)))).toEqual({ valid: true });
  expect(validator.version).toBe('3.0');
  for (const { path, parameters } of methodsOf(template)) {
    expect(parameters.map(({ name }) => name)).toEqual(path.match(/(?<=\{)\w+/g) ?? []);
  }
});

test.each(mocks)('$method $path responds without a function', ({ method, integration, responses }) => {
  const status = method === 'ANY' ? 400 : 200;
  expect(integration).toMatchObject({
    requestTemplates: { 'application/json': JSON.stringify({ statusCode: status }) },
    // Without these three, a request with a body would fail.
    contentHandling: 'CONVERT_TO_TEXT',
    passthroughBehavior: 'never',
    responses: { default: { statusCode: String(status), contentHandling: 'CONVERT_TO_TEXT' } },
  });
  // API Gateway sets only statuses and headers that the method declares.
  expect(Object.keys(integration.responses)).toEqual(['default']);
  expect(Object.keys(responses)).toEqual([String(status)]);
  expect(Object.keys(responses[status].headers)).toEqual(
    Object.keys(integration.responses.default.responseParameters).map((name) => name.split('.').at(-1)),
  );
  if (method !== 'ANY') return;
  expect(JSON.parse(integration.responses.default.responseTemplates['application/json'])).toEqual({
    error: 404,
    message: 'There is no such path or method.',
  });
});

test('without origins there is no preflight and no CORS header', () => {
  expect(JSON.stringify(templateWith({}).toJSON())).not.toMatch(/Access-Control|ALLOW_ORIGINS/);
});

test.each([
  [A, A],
  [`${A},https://b.example`, '*'],
  ['*', '*'],
])('with the origins %s the gateway’s own responses allow %s and expose their headers', (allowOrigins, allowed) => {
  const stack = templateWith({ allowOrigins });
  const cors = (prefix: string) => ({
    [`${prefix}.header.Access-Control-Allow-Origin`]: `'${allowed}'`,
    [`${prefix}.header.Access-Control-Expose-Headers`]:
      "'x-amz-apigw-id,Retry-After,WWW-Authenticate,x-amzn-Remapped-WWW-Authenticate'",
  });
  for (const { responseParameters } of Object.values(gatewayResponsesOf(stack))) {
    expect(responseParameters).toMatchObject(cors('gatewayresponse'));
  }
  for (const { method, integration } of methodsOf(stack)) {
    if (method !== 'ANY') continue;
    expect(integration.responses.default.responseParameters).toEqual(cors('method.response'));
  }
});

/** The responses to preflight requests, by path. */
const preflightsOf = (allowOrigins: string) =>
  Object.fromEntries(
    methodsOf(templateWith({ allowOrigins }))
      .filter(({ method }) => method === 'OPTIONS')
      .map(({ path, integration }) => [path, integration.responses.default]),
  );

test('each path of an operation, and no other, has a preflight that allows its methods', () => {
  const preflights = preflightsOf(A);
  expect(Object.keys(preflights).toSorted()).toEqual([...new Set(twoOperations.map(({ path }) => path))].toSorted());
  expect(preflights[waterPlant.path].responseParameters).toEqual({
    'method.response.header.Access-Control-Allow-Origin': `'${A}'`,
    'method.response.header.Access-Control-Allow-Headers': "'Authorization,Content-Type'",
    'method.response.header.Access-Control-Allow-Methods': `'${waterPlant.method}'`,
    'method.response.header.Access-Control-Max-Age': "'3600'",
    'method.response.header.Vary': "'Origin'",
  });
  expect(preflights[waterPlant.path]).not.toHaveProperty('responseTemplates');
});

test('a preflight allows the methods of all operations on its path', () => {
  const both = [waterPlant, { ...waterPlant, operationId: 'dryPlant', method: 'DELETE' }];
  const [preflight] = methodsOf(templateWith({ allowOrigins: A }, both)).filter(({ method }) => method === 'OPTIONS');
  expect(preflight?.integration.responses.default.responseParameters).toMatchObject({
    'method.response.header.Access-Control-Allow-Methods': "'PUT,DELETE'",
  });
});

test('a preflight allows the first of several origins, and each other origin by its template', () => {
  const { responseParameters, responseTemplates } = preflightsOf(`${A},https://b.example,https://c.example`)[
    waterPlant.path
  ];
  expect(responseParameters['method.response.header.Access-Control-Allow-Origin']).toBe(`'${A}'`);
  expect(responseTemplates['application/json']).toContain(
    '#if($origin == "https://b.example" || $origin == "https://c.example")',
  );
});

test('a preflight that allows all origins does not vary', () => {
  const { responseParameters } = preflightsOf('*')[waterPlant.path];
  expect(responseParameters).not.toHaveProperty(['method.response.header.Vary']);
});
