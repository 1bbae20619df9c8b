import { expect, test } from 'vitest';
import { ACCESS_TOKEN_PATTERN, ACCESS_TOKEN_PREFIX, digestOf, newToken } from './token.ts';

test('makes the item of a token, which has its digest and not the token itself', () => {
  const { token, item } = newToken('ci', 1, 2);
  expect(item).toEqual({
    digest: { S: digestOf(token) },
    name: { S: 'ci' },
    createdAt: { N: '1' },
    expiresAt: { N: '2' },
  });
});

test('makes random tokens: no token repeats, and each character is equally frequent at each position', () => {
  const tokens = Array.from({ length: 3000 }, () => newToken('x', 0, 0).token);
  expect(new Set(tokens).size).toBe(3000);
  expect(tokens.filter((token) => !ACCESS_TOKEN_PATTERN.test(token))).toEqual([]);

  const random = tokens.map((token) => token.slice(ACCESS_TOKEN_PREFIX.length));
  // Chance leaves out one of the 43 * 62 pairs in one of 5 * 10^17 runs: 43 * 62 * (61 / 62) ** 3000.
  for (let position = 0; position < 43; position += 1) {
    expect(new Set(random.map((characters) => characters[position])).size).toBe(62);
  }
  // Of 129,000 characters each is expected 2081 times, with a standard deviation of 45. Eight of these are exceeded in
  // one of 10^13 runs. The remainder of a random byte divided by 62 would exceed ten of them.
  for (const [, alike] of Map.groupBy(random.join(''), (character) => character)) {
    expect(Math.abs(alike.length - 2081)).toBeLessThan(8 * 45);
  }
});
