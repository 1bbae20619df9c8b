import { format } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { requestLine } from '../../test/support/log-lines.ts';
import { printOnlyCauses, responseLine } from './log.ts';

/** Returns what `console.error` prints for these values; undefined for nothing. */
function printed(...values: unknown[]): unknown[] | undefined {
  const print = vi.spyOn(console, 'error').mockReturnValue();
  for (const level of ['debug', 'log', 'info', 'warn'] as const) vi.spyOn(console, level);
  onTestFinished(() => void vi.restoreAllMocks());
  printOnlyCauses();
  console.error(...values);
  return print.mock.lastCall;
}

test.each([undefined, 409] as const)('prints nothing for the log line of a request with error %s', async (error) => {
  expect(printed((await requestLine('createPlant', error)).message)).toBeUndefined();
});

test('prints the stacks of all causes of a failed request, the first cause first', async () => {
  const { message } = await requestLine('createPlant', 503);
  const stacks = String(printed(message)).split(/\n(?=\w)/);
  expect(stacks).toEqual(
    ['Error: inner', 'Error: outer', 'PlantStoreError: no'].map((title) =>
      expect.stringMatching(new RegExp(`^${title}\n +at .*log-lines\\.ts:\\d+:\\d+`)),
    ),
  );
});

test('escapes control characters, also in errors and objects', () => {
  expect(printed('%s', '\u001b[2J', 7)).toEqual(['\\u001b[2J 7']);
  expect(printed({ tag: '\u202e' })).toEqual(["{ tag: '\\u202e' }"]);
  expect(printed([new Error('\u009b2J')])).toEqual([expect.stringMatching(/Error: \\u009b2J\n +at /)]);
});

test('escapes the control characters of a path and a message, and line breaks', () => {
  const body = JSON.stringify({ error: 404, message: 'There is\nno \u202e.' });
  expect(responseLine('GET /\u009b2J', 400, body, 5.6)).toBe('GET /\\u009b2J  404  There is\\nno \\u202e.  6 ms');
});

test.each([[['a', { b: 1 }]], [[{ operation: 'x' }]], [[null]]])('prints %j as Node.js does', (values) => {
  expect(printed(...values)).toEqual([format(...values)]);
});
