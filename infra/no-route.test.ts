import { expect, test } from 'vitest';
import { defaultTemplate, methodsOf, templateWith, withWaterPlant } from '../test/support/stack.ts';

test.each([
  ['the contract', defaultTemplate()],
  ['two operations', templateWith({}, withWaterPlant())],
])('of %s each path, those between and all others have a method for what is no operation', (_what, template) => {
  const methods = methodsOf(template);
  const paths = [...new Set(methods.map(({ path }) => path))];
  const parents = paths.flatMap((path) => path.split('/').map((_, n, parts) => parts.slice(0, n).join('/') || '/'));
  const noRoutes = methods.filter(({ method }) => method === 'ANY').map(({ path }) => path);
  expect(noRoutes.toSorted()).toEqual([...new Set([...paths, ...parents, '/', '/{proxy+}'])].toSorted());
});

test('what is no operation is answered error 404 without a function', () => {
  for (const { method, integration, properties } of methodsOf(defaultTemplate())) {
    if (method !== 'ANY') continue;
    expect(integration.Type).toBe('MOCK');
    // The mock’s status is that for which the integration response is chosen, whose status the method must have.
    expect(integration.RequestTemplates).toEqual({ 'application/json': '{"statusCode":400}' });
    const [{ StatusCode, SelectionPattern, ResponseTemplates }, ...others] = integration.IntegrationResponses;
    expect({ StatusCode, SelectionPattern, others }).toEqual({ StatusCode: '400', others: [] });
    expect(properties.MethodResponses).toMatchObject([{ StatusCode: '400' }]);
    expect(JSON.parse(ResponseTemplates['application/json'])).toEqual({
      error: 404,
      message: 'There is no such path or method.',
    });
  }
});

test('no body makes a method without a function fail', () => {
  const mocks = methodsOf(templateWith({ allowOrigins: 'https://a.example' }, withWaterPlant())).filter(
    ({ integration }) => integration.Type === 'MOCK',
  );
  expect(new Set(mocks.map(({ method }) => method))).toEqual(new Set(['ANY', 'OPTIONS']));
  for (const { integration } of mocks) {
    expect(integration).toMatchObject({
      ContentHandling: 'CONVERT_TO_TEXT',
      PassthroughBehavior: 'NEVER',
      IntegrationResponses: [{ ContentHandling: 'CONVERT_TO_TEXT' }],
    });
  }
});
