import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { projectRoot } from '../local/synthesize.ts';
import { runHere, runToolHere } from '../test/support/tool.ts';
import { checked, checkedNumber, command, WrongArguments } from './command.ts';

const usage = 'Usage: npm run tool';

test('the arguments reach a tool in their order; one too few or too many ends it with a sentence and its usage', async () => {
  const upTo = (max: number) => fc.integer({ min: 0, max });
  await fc.assert(
    fc.asyncProperty(upTo(3), upTo(2), upTo(6), async (required, optional, given) => {
      const operands = Array.from({ length: required + optional }, (_, index) =>
        index < required ? `NAME_${index}` : `[NAME_${index}]`,
      );
      const args = Array.from({ length: given }, (_, index) => `argument ${index}`);
      const body = vi.fn(async () => {});
      const ended = await runHere(args, () => command({ usage, operands }, body));
      if (given < required) {
        expect(ended).toEqual({ code: 1, stdout: '', stderr: `NAME_${given} is missing.\n\n${usage}\n` });
      } else if (given > required + optional) {
        const sentence = `There is no place for "argument ${required + optional}".`;
        expect(ended).toEqual({ code: 1, stdout: '', stderr: `${sentence}\n\n${usage}\n` });
      } else {
        expect(ended).toEqual({ code: 0, stdout: '', stderr: '' });
        expect(body.mock.calls).toEqual([[{}, args]]);
        return;
      }
      expect(body).not.toHaveBeenCalled();
    }),
  );
});

const options = { name: { type: 'string' }, fast: { type: 'boolean', default: false } } as const;

test('options reach a tool by their names, wherever they stand', async () => {
  const body = vi.fn(async () => {});
  await runHere(['--fast', 'a', '--name', 'b'], () => command({ usage, options, operands: ['A'] }, body));
  expect(body.mock.calls).toEqual([[{ fast: true, name: 'b' }, ['a']]]);
});

test.each([
  ['--slow', "Unknown option '--slow'."],
  ['--name', "Option '--name <value>' argument missing"],
  ['--fast=yes', "Option '--fast' does not take an argument"],
])('the option %s ends a tool with what is wrong, and its usage', async (argument, sentence) => {
  const { code, stdout, stderr } = await runHere([argument], () => command({ usage, options }, async () => {}));
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.startsWith(sentence)).toBe(true);
  expect(stderr.endsWith(`\n\n${usage}\n`)).toBe(true);
});

test.each<[unknown, string]>([
  [new Error('The table is gone.'), 'The table is gone.\n'],
  ['The table is gone.', 'The table is gone.\n'],
  [undefined, 'undefined\n'],
  [new TypeError('The table is no table.'), 'The table is no table.\n'],
  [Object.assign(new TypeError('The table is odd.'), { code: 'ERR_TABLE' }), 'The table is odd.\n'],
  [new WrongArguments('--table was "x".'), `--table was "x".\n\n${usage}\n`],
])('%s ends a tool with its sentence, the usage only where the arguments are wrong', async (error, stderr) => {
  expect(await runHere([], () => command({ usage }, () => Promise.reject(error)))).toEqual({
    code: 1,
    stdout: '',
    stderr,
  });
});

test('--help prints the usage, whatever stands beside it, and does nothing', async () => {
  const body = vi.fn(async () => {});
  const ended = await runHere(['--slow', '--help'], () => command({ usage, operands: ['A'] }, body));
  expect(ended).toEqual({ code: 0, stdout: `${usage}\n`, stderr: '' });
  expect(body).not.toHaveBeenCalled();
});

test('npm run restore has a usage, and wants to know where from', async () => {
  const { stdout } = await runToolHere('restore', ['--help']);
  expect(stdout).toMatch(/^Usage: npm run restore -- --from TABLE /);
  expect(await runToolHere('restore', [])).toEqual({ code: 1, stdout: '', stderr: `--from is missing.\n\n${stdout}` });
});

test('a number is in digits, and from its least to its most', () => {
  const number = fc.integer({ min: 0, max: 50 });
  fc.assert(
    fc.property(number, number, number, (value, one, other) => {
      const [min, max] = [Math.min(one, other), Math.max(one, other)];
      const read = () => checkedNumber('--rate', `0${value}`, min, max);
      if (value >= min && value <= max) expect(read()).toBe(value);
      else expect(read).toThrow(`--rate was "0${value}"; it must be a number from ${min} to ${max}.`);
    }),
    {
      examples: [
        [5, 5, 9],
        [9, 5, 9],
        [4, 5, 9],
        [10, 5, 9],
      ],
    },
  );
  for (const value of ['', ' 5', '5 ', '5s', '+5', '-5', '5.0', '5e0', '0x5', '٥', 'five']) {
    expect(() => checkedNumber('--rate', value, 0, 9)).toThrow(WrongArguments);
  }
});

test('what does not match is told with what it must be', () => {
  expect(checked('--name', 'ci', /^\w+$/, 'a word')).toBe('ci');
  const wrong = () => checked('--name', 'c i', /^\w+$/, 'a word');
  expect(wrong).toThrow(WrongArguments);
  expect(wrong).toThrow('--name was "c i"; it must be a word.');
});

test.each<['stdout' | 'stderr', string[]]>([
  ['stdout', ['--help']],
  ['stderr', []],
])('a tool ends quietly where nobody reads its %s on, with the exit status of SIGPIPE', async (stream, args) => {
  const child = spawn(process.execPath, [join('operate', 'smoke.ts'), ...args], { cwd: projectRoot });
  child[stream].destroy();
  const other = child[stream === 'stdout' ? 'stderr' : 'stdout'];
  const [written, [code]] = await Promise.all([text(other), once(child, 'exit')]);
  expect(written).toBe('');
  expect(code).toBe(141);
});

test('another fault of its output ends a tool with what it is', async () => {
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const write = async () => void process.stdout.emit('error', full);
  expect(await runHere([], () => command({ usage }, write))).toMatchObject({ code: 1, stderr: `${full.message}\n` });
});
