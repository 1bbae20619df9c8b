import { expect, test } from 'vitest';
import { requireOrigins } from './cors-headers.ts';

test('the allowed origins can be none, all, or some', () => {
  const some = ['https://a.example', 'http://localhost:5173', 'https://xn--bcher-kva.example'];
  for (const origins of [[], ['*'], some]) expect(() => requireOrigins('ALLOW_ORIGINS', origins)).not.toThrow();
});

test.each([
  ...['', '*', 'a.example', 'ftp://a.example', 'https://*.example.com', "https://a'b.com", 'https://a.example/'],
  ...['https://A.example', 'https://a.example:443', 'https://a.example,https://b.example'],
])('the allowed origin "%s" is rejected in a list', (origin) => {
  expect(() => requireOrigins('ALLOW_ORIGINS', ['https://a.example', origin])).toThrow(
    `ALLOW_ORIGINS was "${origin}"; it must be an origin such as https://app.example.com, without a path, or * alone.`,
  );
});
