import { expect, onTestFinished, test, vi } from 'vitest';
import type { RequestLine } from '../../functions/middleware/request-log.ts';
import { escapeConsole, responseLine, withoutRequestLines } from './log.ts';

const LINE: RequestLine = {
  operation: 'POST /plants',
  version: '$LATEST',
  outcome: 'failed',
  extendedRequestId: 'id',
  tokenName: 'development',
  durationMs: 1,
};

test.each([
  [undefined, undefined],
  [{ name: 'Error', stack: 'stack', cause: { stack: 'inner' } }, 'stack\n[cause]: inner'],
  [{ name: 'PlantStoreError', stack: 'stack' }, 'stack'],
  // The line of the response already has the message for the client.
  [{ name: 'PlantStoreError', stack: 'stack', cause: 'thrown' }, 'thrown'],
])('prints the fault %j of a request as %s', (fault, text) => {
  expect(withoutRequestLines({ ...LINE, fault })).toBe(text);
});

test('escapes control characters, also in errors and objects', () => {
  const print = vi.spyOn(console, 'error').mockReturnValue();
  for (const level of ['debug', 'log', 'info', 'warn'] as const) vi.spyOn(console, level);
  onTestFinished(() => void vi.restoreAllMocks());
  escapeConsole();
  console.error('%s', '\u001b[2J\r\u0007\u007f\n\té 🌱', 7);
  console.error({ tag: '\u202eabc\u2066\u200f' });
  console.error([new Error('\u009b2J')]);
  expect(print.mock.calls).toEqual([
    ['\\u001b[2J\\u000d\\u0007\\u007f\n\té 🌱 7'],
    ["{ tag: '\\u202eabc\\u2066\\u200f' }"],
    [expect.stringMatching(/Error: \\u009b2J\n +at /)],
  ]);
});

test('shows what the client got, with the first line of a message and escaped control characters', () => {
  const body = JSON.stringify({ error: 404, message: 'There is no \u202e.\nline 2' });
  const line = 'GET /\\u009b2J  400 (error 404)  There is no \\u202e.  6 ms';
  expect(responseLine('GET /\u009b2J', 400, body, 5.6)).toBe(line);
  expect(responseLine('GET /', 200, '{}', 5.6)).toBe('GET /  200  6 ms');
  expect(responseLine('GET /', 400, 'not JSON', 5.6)).toBe('GET /  400  6 ms');
});
