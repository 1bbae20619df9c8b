import { expect, onTestFinished, test, vi } from 'vitest';
import { requestLine } from '../../test/support/log-lines.ts';
import { accessLine, logLine } from './log.ts';
import { projectRoot } from './synthesize.ts';

const circular: { self?: object } = {};
circular.self = circular;

test.each<[string, unknown[], string]>([
  ['several values', ['here', 'x', [1]], 'here x [ 1 ]'],
  ['placeholders', ['%s is %d', 'x', 5], 'x is 5'],
  ['an object', [{ a: 1, b: undefined }], '{ a: 1, b: undefined }'],
  ['a circular object', [circular], '<ref *1> { self: [Circular *1] }'],
  ['nothing', [], ''],
])('logs %s', (_, values, text) => {
  expect(logLine('WARN', values)).toEqual({ level: 'WARN', text, isRequest: false });
});

test('prints the stack of an error in lines, with paths from the project’s root', () => {
  const error = new Error('outer', { cause: new TypeError('inner') });
  error.stack = `Error: outer\n    at run (file://${projectRoot}/functions/a.ts:1:2)\n    at ${projectRoot}/functions/b.ts:3:4`;
  const { text } = logLine('ERROR', ['failed:', error]);
  expect(text).toMatch(
    /^failed: Error: outer\n {4}at run \(functions\/a\.ts:1:2\)\n {4}at functions\/b\.ts:3:4 \{\n {2}\[cause\]: TypeError: inner\n/,
  );
});

test('prints the members of a request’s line that JSON cannot represent', () => {
  expect(logLine('INFO', [{ operation: 'x', outcome: 'y', id: 1n }]).text).toContain('id: 1n');
});

test('prints the line of a failed request with the stacks of all causes', async () => {
  const { text, isRequest } = logLine('ERROR', [(await requestLine('createPlant', 500)).message]);
  expect(isRequest).toBe(true);
  expect(text).toMatch(/^\{\n {2}operation: 'createPlant',$.*^ {2}outcome: 'failed',$/ms);
  for (const name of ['PlantStoreError: no', 'Error: outer', 'Error: inner']) {
    expect(text).toMatch(new RegExp(`: ${name}\\n +at .*test/support/log-lines\\.ts:\\d+:\\d+`));
  }
});

test.each([[['text']], [[{ operation: 'x' }]], [[null]], [[{ operation: 'x', outcome: 'y' }, 1]]])(
  'does not take %j for the line of a request',
  (values) => {
    expect(logLine('INFO', values).isRequest).toBe(false);
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
