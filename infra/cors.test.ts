import { Match } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { defaultTemplate, methodsOf, templateWith, withWaterPlant } from '../test/support/stack.ts';

test('without origins there is no preflight and no header that lets a page in', () => {
  expect(JSON.stringify(defaultTemplate().toJSON())).not.toMatch(/Access-Control|ALLOW_ORIGINS/);
});

/** By these a page may tell its user which request it was, and when to repeat it. */
const EXPOSED = "'x-amz-apigw-id,Retry-After,WWW-Authenticate,x-amzn-Remapped-WWW-Authenticate'";

test.each([
  ['https://a.example', 'https://a.example'],
  ['https://a.example,https://b.example', '*'],
  ['*', '*'],
])('with the origins %s the gateway’s own answers allow %s', (allowOrigins, allowed) => {
  const open = templateWith({ allowOrigins }, withWaterPlant());
  open.allResourcesProperties('AWS::ApiGateway::GatewayResponse', {
    ResponseParameters: Match.objectLike({
      'gatewayresponse.header.Access-Control-Allow-Origin': `'${allowed}'`,
      'gatewayresponse.header.Access-Control-Expose-Headers': EXPOSED,
    }),
  });
  const noRoutes = methodsOf(open).filter(({ method }) => method === 'ANY');
  expect(noRoutes.length).toBeGreaterThan(0);
  for (const { integration, properties } of noRoutes) {
    const { ResponseParameters } = integration.IntegrationResponses[0];
    expect(ResponseParameters).toEqual({
      'method.response.header.Access-Control-Allow-Origin': `'${allowed}'`,
      'method.response.header.Access-Control-Expose-Headers': EXPOSED,
    });
    // A header that the method does not declare cannot be set.
    expect(properties.MethodResponses[0].ResponseParameters).toEqual(
      Object.fromEntries(Object.keys(ResponseParameters).map((name) => [name, true])),
    );
  }
});

test('a page may send a token and JSON, and ask once an hour', () => {
  const preflights = methodsOf(templateWith({ allowOrigins: 'https://a.example' }, withWaterPlant())).filter(
    ({ method }) => method === 'OPTIONS',
  );
  expect(preflights).not.toEqual([]);
  for (const { integration, properties } of preflights) {
    expect(integration.RequestTemplates).toEqual({ 'application/json': '{ statusCode: 200 }' });
    expect(integration.IntegrationResponses).toMatchObject([
      {
        StatusCode: '200',
        ResponseParameters: {
          'method.response.header.Access-Control-Allow-Origin': "'https://a.example'",
          'method.response.header.Access-Control-Allow-Headers': "'Authorization,Content-Type'",
          'method.response.header.Access-Control-Max-Age': "'3600'",
        },
      },
    ]);
    expect(properties.MethodResponses).toMatchObject([{ StatusCode: '200' }]);
  }
});

test('each path of an operation has a preflight that allows the methods of that path, and no other path has one', () => {
  const operations = withWaterPlant();
  const open = templateWith({ allowOrigins: 'https://a.example' }, operations);
  const preflights = methodsOf(open).filter(({ method }) => method === 'OPTIONS');
  const allowed = preflights.map(({ path, integration: { Type, IntegrationResponses } }) => {
    expect(Type).toBe('MOCK');
    const methods = IntegrationResponses[0].ResponseParameters['method.response.header.Access-Control-Allow-Methods'];
    return [path, methods.replaceAll("'", '').split(',').toSorted()];
  });
  expect(Object.fromEntries(allowed)).toEqual(
    Object.fromEntries(
      operations.map(({ path }) => [
        path,
        operations
          .filter((other) => other.path === path)
          .map(({ method }) => method)
          .toSorted(),
      ]),
    ),
  );
});
