import { expect, test, vi } from 'vitest';
import { newToken, TOKEN_PATTERN } from './token.ts';

test('creates random tokens without repeats and with equally frequent characters', () => {
  const predictable = vi.spyOn(Math, 'random');
  const tokens = Array.from({ length: 3000 }, () => newToken('x', 0, 0).token);
  expect(predictable).not.toHaveBeenCalled();
  expect(new Set(tokens).size).toBe(3000);
  expect(tokens.filter((token) => !TOKEN_PATTERN.test(token))).toEqual([]);

  const random = tokens.map((token) => token.replace('plantstore_', ''));
  // Each of the 62 is expected 2081 times in 129,000 characters, with a standard deviation of 45. By chance, the
  // difference exceeds 8 deviations in 1 of 10^13 runs. A biased `randomByte % 62` exceeds 10 deviations.
  for (const [, occurrences] of Map.groupBy(random.join(''), (character) => character)) {
    expect(Math.abs(occurrences.length - 2081)).toBeLessThan(8 * 45);
  }
});
