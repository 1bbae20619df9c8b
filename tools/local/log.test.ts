import { format } from 'node:util';
import { expect, onTestFinished, test, vi } from 'vitest';
import { requestLine } from '../../test/support/log-lines.ts';
import { hideRequestLines, responseLine } from './log.ts';

/** Returns what `console.error` prints for these values; undefined for nothing. */
function printed(...values: unknown[]): unknown[] | undefined {
  const print = vi.spyOn(console, 'error').mockReturnValue();
  for (const level of ['debug', 'log', 'info', 'warn'] as const) vi.spyOn(console, level);
  onTestFinished(() => void vi.restoreAllMocks());
  hideRequestLines();
  console.error(...values);
  return print.mock.lastCall;
}

test.each([undefined, 409] as const)('prints nothing for the log line of a request with error %s', async (error) => {
  expect(printed((await requestLine(error)).message)).toBeUndefined();
});

test('prints the stack of what a function has thrown and those of its causes, without the error for the client', async () => {
  const { message } = await requestLine(503);
  const stacks = String(printed(message)).split('\n[cause]: ');
  const stackOf = (title: string) => expect.stringMatching(new RegExp(`^${title}\n +at .*log-lines\\.ts:\\d+:\\d+`));
  expect(stacks).toEqual([stackOf('Error: outer'), stackOf('Error: inner')]);
});

test.each([
  [{ name: 'Error', stack: 'stack', cause: { stack: 'inner' } }, 'stack\n[cause]: inner'],
  [{ name: 'PlantStoreError', stack: 'stack' }, 'stack'],
  [{ name: 'PlantStoreError', stack: 'stack', cause: 'thrown' }, 'thrown'],
])('prints the fault %j of a request as %s', (fault, text) => {
  expect(printed({ operation: 'x', outcome: 'failed', durationMs: 1, fault })).toEqual([text]);
});

test('escapes control characters, also in errors and objects', () => {
  expect(printed('%s', '\u001b[2J', 7)).toEqual(['\\u001b[2J 7']);
  expect(printed({ tag: '\u202e' })).toEqual(["{ tag: '\\u202e' }"]);
  expect(printed([new Error('\u009b2J')])).toEqual([expect.stringMatching(/Error: \\u009b2J\n +at /)]);
});

test('shows what the client got, with the first line of a message and escaped control characters', () => {
  const body = JSON.stringify({ error: 404, message: 'There is no \u202e.\nline 2' });
  const line = 'GET /\\u009b2J  400 (error 404)  There is no \\u202e.  6 ms';
  expect(responseLine('GET /\u009b2J', 400, body, 5.6)).toBe(line);
  expect(responseLine('GET /', 200, '{}', 5.6)).toBe('GET /  200  6 ms');
});

test.each([[['a', { b: 1 }]], [[{ operation: 'x' }]], [[null]]])('prints %j as Node.js does', (values) => {
  expect(printed(...values)).toEqual([format(...values)]);
});
