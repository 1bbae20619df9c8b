import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { contractBody } from '../../test/support/contract-body.ts';
import {
  allOperations,
  apiDefinitionOf,
  createPlant,
  gatewayResponsesOf,
  methodsOf,
  templateWith,
} from '../../test/support/stack.ts';
import { NOT_FOUND } from '../data/gateway-responses.ts';

const A = 'https://a.example';
const template = templateWith({ allowOrigins: [A] });
const mocks = methodsOf(template).filter(({ integration }) => integration.type === 'mock');

test('each operation has a method that invokes a function, and no other method does', () => {
  const routes = methodsOf(template).filter(({ integration }) => integration.type === 'aws_proxy');
  expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
    allOperations.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
});

test('operation paths, their parents and all other paths have an ANY method for unknown requests', () => {
  const path = '/plants/{id}/leaves';
  const notFound = methodsOf(templateWith({}, [{ ...createPlant, path }])).filter(({ method }) => method === 'ANY');
  expect(notFound.map((each) => each.path).toSorted()).toEqual(['/', '/plants', '/plants/{id}', path, '/{proxy+}']);
});

test('the definition is a valid OpenAPI 3.0 document with the whole API, and the function gets every body as base64', async () => {
  template.resourceCountIs('AWS::ApiGateway::Method', 0);
  template.resourceCountIs('AWS::ApiGateway::GatewayResponse', 0);
  expect(apiDefinitionOf(template)).toMatchObject({ 'x-amazon-apigateway-binary-media-types': ['*/*'] });
  const validator = new Validator();
  expect(await validator.validate(structuredClone(apiDefinitionOf(template)))).toEqual({ valid: true });
  expect(validator.version).toBe('3.0');
  for (const { path, parameters } of methodsOf(template)) {
    expect(parameters.map(({ name }) => name)).toEqual(path.match(/(?<=\{)\w+/g) ?? []);
  }
});

test.each(mocks)('$method $path responds without a function to any body', ({ method, integration, responses }) => {
  const status = method === 'ANY' ? '400' : '200';
  expect(integration).toMatchObject({
    requestTemplates: { 'application/json': `{"statusCode":${status}}` },
    // Without these three, a request with a body fails.
    contentHandling: 'CONVERT_TO_TEXT',
    passthroughBehavior: 'never',
    responses: { default: { statusCode: status, contentHandling: 'CONVERT_TO_TEXT' } },
  });
  const body = method === 'ANY' ? { 'application/json': JSON.stringify(NOT_FOUND) } : undefined;
  expect(integration.responses.default.responseTemplates).toEqual(body);
  // API Gateway sets only the statuses and headers that the method declares.
  expect(Object.keys(responses)).toEqual([status]);
  expect(Object.keys(responses[status].headers)).toEqual(
    Object.keys(integration.responses.default.responseParameters).map((name) => name.split('.').at(-1)),
  );
});

test('without allowOrigins, there is no preflight and no CORS header', () => {
  expect(JSON.stringify(templateWith({}).toJSON())).not.toMatch(/Access-Control|ALLOW_ORIGINS/);
});

test.each([
  [[A], A],
  [[A, 'https://b.example'], '*'],
])('with the origins %j, preflights and gateway responses allow %s', (allowOrigins, allowed) => {
  const stack = templateWith({ allowOrigins });
  const methods = methodsOf(stack).filter(({ integration }) => integration.type === 'mock');
  const ofMethods = methods.map(({ integration }) => integration.responses.default.responseParameters);
  expect(new Set(ofMethods.map((headers) => headers['method.response.header.Access-Control-Allow-Origin']))).toEqual(
    new Set([`'${allowed}'`]),
  );
  for (const { responseParameters } of Object.values(gatewayResponsesOf(stack))) {
    expect(responseParameters).toMatchObject({
      'gatewayresponse.header.Access-Control-Allow-Origin': `'${allowed}'`,
      'gatewayresponse.header.Access-Control-Expose-Headers':
        "'x-amz-apigw-id,Retry-After,WWW-Authenticate,x-amzn-Remapped-WWW-Authenticate'",
    });
  }
});

test('only paths of operations have a preflight, which allows all methods of the path', () => {
  const methods = (path: string) =>
    allOperations.flatMap((operation) => (operation.path === path ? operation.method : []));
  const preflights = mocks.filter(({ method }) => method === 'OPTIONS');
  expect(preflights.map(({ path }) => path).toSorted()).toEqual(
    [...new Set(allOperations.map(({ path }) => path))].toSorted(),
  );
  for (const { path, integration } of preflights) {
    expect(integration.responses.default.responseParameters).toMatchObject({
      'method.response.header.Access-Control-Allow-Methods': `'${methods(path)}'`,
      'method.response.header.Access-Control-Allow-Headers': "'Authorization,Content-Type'",
      'method.response.header.Access-Control-Max-Age': "'3600'",
    });
  }
});

test('each gateway response is a 400 with an error of the contract, and the headers of that error', () => {
  const responses = gatewayResponsesOf(templateWith({}));
  const errors = Object.entries(responses).map(([type, { statusCode, responseTemplates }]) => {
    const body = String(responseTemplates['application/json']);
    const headers = { 'content-type': 'application/json' };
    const { error, message } = contractBody({ statusCode: Number(statusCode), headers, body });
    expect(message).toMatch(/^[A-Z].+\.$/);
    return [type, error];
  });
  expect(responses['UNAUTHORIZED']?.responseParameters).toEqual({
    'gatewayresponse.header.WWW-Authenticate': `'Bearer realm="plant-store"'`,
  });
  expect(Object.fromEntries(errors)).toEqual({
    ACCESS_DENIED: 401,
    API_CONFIGURATION_ERROR: 500,
    AUTHORIZER_CONFIGURATION_ERROR: 500,
    AUTHORIZER_FAILURE: 500,
    BAD_REQUEST_BODY: 400,
    BAD_REQUEST_PARAMETERS: 400,
    DEFAULT_4XX: 400,
    DEFAULT_5XX: 500,
    EXPIRED_TOKEN: 401,
    INTEGRATION_FAILURE: 500,
    INTEGRATION_TIMEOUT: 504,
    INVALID_API_KEY: 401,
    INVALID_SIGNATURE: 404,
    MISSING_AUTHENTICATION_TOKEN: 404,
    QUOTA_EXCEEDED: 429,
    RESOURCE_NOT_FOUND: 404,
    THROTTLED: 429,
    UNAUTHORIZED: 401,
    UNSUPPORTED_MEDIA_TYPE: 404,
    WAF_FILTERED: 429,
  });
});
