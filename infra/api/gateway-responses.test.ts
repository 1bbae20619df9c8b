import { expect, test } from 'vitest';
import { gatewayResponsesOf, templateWith } from '../../test/support/stack.ts';

const responses = gatewayResponsesOf(templateWith({}));

test('all 21 gateway responses have the status 400', () => {
  expect(Object.values(responses).map(({ statusCode }) => statusCode)).toEqual(new Array(21).fill('400'));
});

test.each([
  ['UNAUTHORIZED', 'WWW-Authenticate', 'Bearer realm="plant-store"'],
  ['THROTTLED', 'Retry-After', '1'],
])('the gateway response %s has the header %s', (type, header, value) => {
  expect(responses[type]?.responseParameters).toEqual({ [`gatewayresponse.header.${header}`]: `'${value}'` });
});
