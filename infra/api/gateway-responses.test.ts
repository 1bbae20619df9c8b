import { expect, test } from 'vitest';
import { defaultTemplate, gatewayResponsesOf } from '../../test/support/stack.ts';

const responses = gatewayResponsesOf(defaultTemplate());

test('each of the 21 gateway responses is a 400', () => {
  expect(responses.map(({ statusCode }) => statusCode)).toEqual(new Array(21).fill('400'));
});

test.each([
  ['UNAUTHORIZED', 'WWW-Authenticate', 'Bearer realm="plant-store"'],
  ['THROTTLED', 'Retry-After', '1'],
])('the gateway response %s has the header %s', (type, header, value) => {
  expect(responses.find((response) => response.type === type)?.responseParameters).toEqual({
    [`gatewayresponse.header.${header}`]: `'${value}'`,
  });
});
