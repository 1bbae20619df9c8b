import { expect, test } from 'vitest';
import { matchPath, newRequestIds, proxyEvent } from './proxy-event.ts';

test.each([
  ['/plants/7', '/plants/{id}', { id: '7' }],
  ['/plants/7/', '/plants/{id}', { id: '7' }],
  ['/plants/a%2Fb%20c', '/plants/{id}', { id: 'a%2Fb%20c' }],
  ['/plants/7/leaves/-8', '/plants/{id}/leaves/{leaf_2}', { id: '7', leaf_2: '-8' }],
  ['/plants/$count', '/plants/$count', {}],
  ['/v1.0/a:b-c_d', '/v1.0/a:b-c_d', {}],
  ['/v1x0/a:b-c_d', '/v1.0/a:b-c_d', undefined],
  ['/plants/7/8', '/plants/{id}', undefined],
  ['/plants', '/plants/{id}', undefined],
])('matches %s with %s: %j', (path, resource, pathParameters) => {
  expect(matchPath(path, resource)).toEqual(pathParameters);
});

test('decodes query parameters, but not path parameters', () => {
  const query = 'name=a%20b%2Bc+d%2F%25&name=%C3%A9&bad=%zz%ff';
  const path = '/plants/a%20b%2Fc';
  const request = { resource: '/plants/{id}', method: 'GET', path, query, headers: [], body: Buffer.of() };
  const event = proxyEvent(request, newRequestIds());
  expect(event).toMatchObject({
    path,
    pathParameters: { id: 'a%20b%2Fc' },
    queryStringParameters: { name: 'é', bad: '%zz\uFFFD' },
    multiValueQueryStringParameters: { name: ['a b+c d/%', 'é'] },
  });
});
