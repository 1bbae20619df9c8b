import { expect, test } from 'vitest';
import { errorText } from './error-text.ts';

test('returns only the message of an expected error', () => {
  expect(errorText(new Error('The table is gone.', { cause: new Error('inner') }))).toBe('The table is gone.');
});

test.each([TypeError, ReferenceError, RangeError, SyntaxError])(
  'returns the stack of a %o, also as a cause',
  (Class) => {
    const error = new Class('x is not a function');
    expect(errorText(error)).toMatch(new RegExp(`^${Class.name}: x is not a function\n    at `));
    const outer = errorText(new Error('It failed.', { cause: new Error('inner', { cause: error }) }));
    expect(outer).toMatch(/^Error: It failed\.\n {4}at /);
    expect(outer).toContain(`[cause]: ${error.stack?.split('\n')[0]}`);
  },
);

test('describes an error without a message, and what is no error', () => {
  expect(errorText(new AggregateError([new Error('refused')]))).toContain('Error: refused\n');
  expect(errorText(undefined)).toBe('undefined');
});
