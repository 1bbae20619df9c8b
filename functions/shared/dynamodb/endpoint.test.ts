import { afterEach, expect, test, vi } from 'vitest';
import { resolveEndpoint } from './endpoint.ts';

afterEach(() => void vi.unstubAllEnvs());

test.each([
  ['eu-west-1', {}, 'https://dynamodb.eu-west-1.amazonaws.com/'],
  ['cn-north-1', {}, 'https://dynamodb.cn-north-1.amazonaws.com.cn/'],
  ['eu-west-1', { AWS_ENDPOINT_URL: 'http://all.example:4566' }, 'http://all.example:4566/'],
  ['eu-west-1', { AWS_ENDPOINT_URL: 'http://a.x', AWS_ENDPOINT_URL_DYNAMODB: 'https://own.x' }, 'https://own.x/'],
])('in %s with %j, its endpoint is %s', (region, variables, expected) => {
  for (const [name, value] of Object.entries({ AWS_REGION: region, AWS_ENDPOINT_URL_DYNAMODB: '', ...variables })) {
    vi.stubEnv(name, value);
  }
  expect(resolveEndpoint().href).toBe(expected);
});
