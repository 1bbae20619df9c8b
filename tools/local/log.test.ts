import { expect, onTestFinished, test, vi } from 'vitest';
import { requestLine } from '../../test/support/log-lines.ts';
import { printOnlyCauses } from './log.ts';

/** Returns what `console.error` prints for these values; undefined for nothing. */
function printed(...values: unknown[]): unknown[] | undefined {
  const print = vi.spyOn(console, 'error').mockReturnValue();
  vi.spyOn(console, 'info');
  onTestFinished(() => void vi.restoreAllMocks());
  printOnlyCauses();
  console.error(...values);
  return print.mock.lastCall;
}

test.each([undefined, 409] as const)('prints nothing for the log line of a request with error %s', async (error) => {
  expect(printed((await requestLine('createPlant', error)).message)).toBeUndefined();
});

test('prints the stacks of all causes of a failed request, the first cause first', async () => {
  const { message } = await requestLine('createPlant', 500);
  const stacks = String(printed(message)).split(/\n(?=\w)/);
  expect(stacks).toEqual(
    ['Error: inner', 'Error: outer', 'PlantStoreError: no'].map((title) =>
      expect.stringMatching(new RegExp(`^${title}\n +at .*log-lines\\.ts:\\d+:\\d+`)),
    ),
  );
});

test.each([[['a', { b: 1 }]], [[{ operation: 'x' }]], [[null]]])('prints %j as Node.js does', (values) => {
  expect(printed(...values)).toEqual(values);
});
