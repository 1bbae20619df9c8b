import { expect, test } from 'vitest';
import { requireOrigins } from './cors.ts';

test.each([[[]], [['*']], [['https://a.example', 'http://localhost:5173', 'https://xn--bcher-kva.example']]])(
  'accepts the origins %j',
  (origins) => {
    expect(() => requireOrigins(origins)).not.toThrow();
  },
);

test.each([
  'https://*.example.com',
  "https://a'b.com",
  'https://a.example/',
  'https://A.example',
  'https://a.example:443',
  'https://a.example,https://b.example',
  'ftp://a.example',
  'a.example',
  '',
  '*',
])('rejects the origin "%s" in a list', (origin) => {
  expect(() => requireOrigins(['https://a.example', origin])).toThrow(
    `The allowed origin "${origin}" must be one such as https://app.example.com, or the only one must be *.`,
  );
});
