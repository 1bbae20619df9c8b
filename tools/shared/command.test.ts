import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test, vi } from 'vitest';
import { runInProcess } from '../../test/support/command.ts';
import { projectRoot } from '../project-root.ts';
import { checked, checkedNumber, command, UsageError } from './command.ts';

const usage = 'Usage: npm run command';
const options = {
  name: { type: 'string' },
  fast: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean' },
} as const;

/** Runs a command with these arguments. Returns its exit status and output, and the arguments of its `run`. */
async function runWith(argv: string[], body = async () => {}) {
  const run = vi.fn(body);
  const ended = await runInProcess(argv, () => command({ usage, options, args: ['FROM', 'TO'] }, run));
  return { ...ended, received: run.mock.calls.at(0) };
}

test.each([
  [['a', 'b'], { fast: false }, ['a', 'b']],
  [['--fast', 'a', '--name', 'x', 'b'], { fast: true, name: 'x' }, ['a', 'b']],
])('parses the arguments %j', async (args, values, others) => {
  expect(await runWith(args)).toEqual({ code: 0, stdout: '', stderr: '', received: [values, others] });
});

test.each([
  [[], 'FROM is missing.'],
  [['a', 'b', 'c', 'd'], 'Unexpected argument "c".'],
  [['--slow'], "Unknown option '--slow'."],
  [['a', '--name'], "Option '--name <value>' argument missing"],
])('rejects the arguments %j', async (args, message) => {
  const { stderr, ...others } = await runWith(args);
  expect(others).toEqual({ code: 1, stdout: '', received: undefined });
  expect(stderr.startsWith(message)).toBe(true);
  expect(stderr.endsWith(`\n\n${usage}\n`)).toBe(true);
});

test('rejects a command whose option npm kept', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('npm_config_dry_run', 'true');
  const { code, stderr, received } = await runWith(['a', 'b']);
  expect({ code, received }).toEqual({ code: 1, received: undefined });
  expect(stderr).toMatch(/^npm did not pass on --dry-run; write "--" before it\.\n/);
});

test('prints only the usage for --help, even with invalid arguments', async () => {
  const stdout = `${usage}\n`;
  expect(await runWith(['--slow', '--help'])).toEqual({ code: 0, stdout, stderr: '', received: undefined });
});

test.each<[Error, string]>([
  [new Error('The table is gone.'), 'The table is gone.\n'],
  [new TypeError('The table is gone.'), expect.stringMatching(/^TypeError: The table is gone\.\n {4}at /)],
  [new UsageError('--table was "x".'), `--table was "x".\n\n${usage}\n`],
])('if the command throws %s, prints what the person needs and sets exit status 1', async (error, stderr) => {
  expect(await runWith(['a', 'b'], () => Promise.reject(error))).toMatchObject({ code: 1, stdout: '', stderr });
});

test.each<['stdout' | 'stderr', 'stdout' | 'stderr', string[]]>([
  ['stdout', 'stderr', ['--help']],
  ['stderr', 'stdout', ['--unknown']],
])('ends without a stack trace if its %s is closed', async (closed, other, args) => {
  const child = spawn(process.execPath, ['tools/plants.ts', ...args], { cwd: projectRoot });
  child[closed].destroy();
  expect(await Promise.all([text(child[other]), once(child, 'exit')])).toEqual(['', [1, null]]);
});

test('accepts a value that matches the pattern, and rejects others', () => {
  expect(checked('--name', 'ci', /^\w+$/, 'a word')).toBe('ci');
  const error = new UsageError('--name was "c i"; it must be a word.');
  expect(() => checked('--name', 'c i', /^\w+$/, 'a word')).toThrow(error);
});

test.each(['5', '9'])('accepts the number %s', (value) => {
  expect(checkedNumber('--rate', value, 5, 9)).toBe(Number(value));
});

test.each(['4', '10', '', ' 5', '+5', '5.0', '5e0', '٥'])('rejects the number "%s"', (value) => {
  const error = new UsageError(`--rate was "${value}"; it must be a number from 5 to 9.`);
  expect(() => checkedNumber('--rate', value, 5, 9)).toThrow(error);
});
