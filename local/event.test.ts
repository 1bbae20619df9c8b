import { expect, test } from 'vitest';
import { targetOf } from './event.ts';

test.each([
  ['/plants', '/plants', ''],
  ['/plants?a=b', '/plants', 'a=b'],
  ['/plants?a=b?c', '/plants', 'a=b?c'],
  ['http://host/plants?a', '/plants', 'a'],
  ['HTTPS://host:443/plants', '/plants', ''],
  ['http://host', '/', ''],
  ['http://host?a', '/', 'a'],
  ['/http://host/plants', '/http://host/plants', ''],
  ['*', '*', ''],
])('the request target %s has the path %s and the query "%s"', (url, path, query) => {
  expect(targetOf(url)).toEqual({ path, query });
});
