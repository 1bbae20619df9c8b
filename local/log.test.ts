import { expect, onTestFinished, test, vi } from 'vitest';
import { requestLine } from '../test/support/log-lines.ts';
import { accessLine, isRequestLine, logLine, terminalText } from './log.ts';
import { projectRoot } from './synthesize.ts';

const circular: { self?: object } = {};
circular.self = circular;

test.each<[string, unknown[], unknown, string]>([
  ['several values', ['here', 'x', [1]], 'here x [ 1 ]', 'here x [ 1 ]'],
  ['placeholders', ['%s is %d', 'x', 5], 'x is 5', 'x is 5'],
  ['a text', ['x'], 'x', 'x'],
  ['an object', [{ a: 1, b: undefined }], { a: 1 }, '{ a: 1, b: undefined }'],
  ['a Map', [new Map([[1, 2]])], {}, 'Map(1) { 1 => 2 }'],
  ['a function', [() => 1], '[Function (anonymous)]', '[Function (anonymous)]'],
  ['a bigint', [1n], '1n', '1n'],
  ['a circular object', [circular], expect.any(String), '<ref *1> { self: [Circular *1] }'],
  ['nothing', [], '', ''],
])('logs %s', (_, values, message, text) => {
  const line = logLine('WARN', values);
  expect(line).toEqual({ level: 'WARN', message, text });
  expect(terminalText(line)).toBe(`WARN ${text}`);
});

test('prints the stack of an error in lines, with paths from the project’s root', () => {
  const error = new Error('outer', { cause: new TypeError('inner') });
  error.stack = `Error: outer\n    at run (file://${projectRoot}/functions/a.ts:1:2)\n    at ${projectRoot}/functions/b.ts:3:4`;
  const text = terminalText(logLine('ERROR', ['failed:', error]));
  expect(text).toMatch(
    /^ERROR failed: Error: outer\n {4}at run \(functions\/a\.ts:1:2\)\n {4}at functions\/b\.ts:3:4 \{\n {2}\[cause\]: TypeError: inner\n/,
  );
});

test('prints the line of a failed request with the stacks of all causes', async () => {
  const line = logLine('ERROR', [(await requestLine('createPlant', 500)).message]);
  expect(isRequestLine(line)).toBe(true);
  const text = terminalText(line);
  expect(text).toMatch(/^ERROR \{\n {2}operation: 'createPlant',$.*^ {2}outcome: 'failed',$/ms);
  for (const name of ['PlantStoreError: no', 'Error: outer', 'Error: inner']) {
    expect(text).toMatch(new RegExp(`: ${name}\\n +at .*test/support/log-lines\\.ts:\\d+:\\d+`));
  }
});

test.each([[['text']], [[{ operation: 'x' }]], [[null]], [[{ operation: 'x', outcome: 'y' }, 1]]])(
  'does not take %j for the line of a request',
  (values) => {
    expect(isRequestLine(logLine('INFO', values))).toBe(false);
  },
);

test.each([
  ['green', undefined, 32],
  ['yellow', 409, 33],
  ['red', 500, 31],
])('prints the line of a response with the time and in %s for error %s', (_color, error, code) => {
  vi.stubEnv('NO_COLOR', undefined);
  vi.stubEnv('FORCE_COLOR', '1');
  onTestFinished(() => void vi.unstubAllEnvs());
  const [time = '', line] = accessLine('POST /plants', error).split('  ');
  expect(time).toMatch(/^\d\d:\d\d:\d\d$/);
  expect(line).toBe(`\u001b[${code}mPOST /plants\u001b[39m`);
});
