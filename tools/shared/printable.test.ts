import { expect, test } from 'vitest';
import { printable } from './printable.ts';

test.each([
  ['C0', '\u001b[2J\r\u0007', '\\u001b[2J\\u000d\\u0007'],
  ['DEL and C1', '\u007f\u009b31m', '\\u007f\\u009b31m'],
  ['bidirectional', '\u202eabc\u2066\u200f', '\\u202eabc\\u2066\\u200f'],
])('escapes %s control characters', (_, text, escaped) => {
  expect(printable(text)).toBe(escaped);
});

test('keeps line breaks, tabs, other characters and the value of JSON', () => {
  expect(printable('a\n\té 🌱')).toBe('a\n\té 🌱');
  const value = { name: 'a"\u001b\u202e\u009b\\' };
  expect(JSON.parse(printable(JSON.stringify(value, null, 2)))).toEqual(value);
});
