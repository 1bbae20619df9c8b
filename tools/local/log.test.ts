import { expect, onTestFinished, test, vi } from 'vitest';
import { requestLine } from '../../test/support/log-lines.ts';
import { shortenRequestLines } from './log.ts';

/** Returns what `console.error` prints for these values. */
function printed(...values: unknown[]): unknown[] {
  const print = vi.spyOn(console, 'error').mockReturnValue();
  vi.spyOn(console, 'info');
  onTestFinished(() => void vi.restoreAllMocks());
  shortenRequestLines();
  console.error(...values);
  return print.mock.lastCall ?? [];
}

test.each([
  [undefined, /^createPlant succeeded in [\d.]+ ms$/],
  [409, /^createPlant refused with error 409 in [\d.]+ ms$/],
] as const)('prints a short line for a request with error %s', async (error, line) => {
  const { message } = await requestLine('createPlant', error);
  expect(printed(message)).toEqual([expect.stringMatching(line)]);
});

test('prints the stacks of all causes of a failed request', async () => {
  const { message } = await requestLine('createPlant', 500);
  const [line, ...stacks] = String(printed(message)).split(/\n(?=\w)/);
  expect(line).toMatch(/^createPlant failed with error 500 in [\d.]+ ms$/);
  expect(stacks).toEqual(
    ['PlantStoreError: no', 'Error: outer', 'Error: inner'].map((title) =>
      expect.stringMatching(new RegExp(`^${title}\n +at .*log-lines\\.ts:\\d+:\\d+`)),
    ),
  );
});

test.each([[['a', { b: 1 }]], [[{ operation: 'x' }]], [[new Error('x')]], [[null]], [[]]])(
  'prints %j as Node.js does',
  (values) => {
    expect(printed(...values)).toEqual(values);
  },
);
