import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { runInProcess } from '../test/support/command.ts';
import { command } from './command.ts';

const usage = 'Usage: npm run command';
const options = { stack: { type: 'string' }, expires: { type: 'string', default: '90d' } } as const;

/** Runs a command with these arguments. Returns its exit status and output, and the arguments of its `run`. */
async function runWith(argv: string[], body = async () => {}, variables = {}) {
  const run = vi.fn(body);
  const ended = await runInProcess(argv, () => command({ usage, options, arg: 'EVENT' }, run), variables);
  return { ...ended, received: run.mock.calls.at(0) };
}

test('parses the arguments', async () => {
  const received = [{ stack: 'x', expires: '90d' }, 'a'];
  expect(await runWith(['--stack', 'x', 'a'])).toEqual({ code: 0, stdout: '', stderr: '', received });
});

test.each<[string[], string, NodeJS.ProcessEnv?]>([
  [[], 'EVENT'],
  [['a', 'b'], '"b"'],
  [['--slow'], '--slow'],
  // npm keeps an option without "--" before it.
  [['a'], '--stack', { npm_config_stack: 'production' }],
])('rejects the arguments %j in a line with %s', async (args, name, variables) => {
  const stderr = expect.stringMatching(`^(?!.*positional argument).*${name}.*\n\n${usage}\n$`);
  expect(await runWith(args, undefined, variables)).toEqual({ code: 1, stdout: '', stderr, received: undefined });
});

test('prints only the usage for --help, even with invalid arguments', async () => {
  const ended = { code: 0, stdout: `${usage}\n`, stderr: '', received: undefined };
  expect(await runWith(['--slow', '--help'])).toEqual(ended);
});

test.each<[Error, unknown]>([
  [new Error('The table \u202e\u009b2J is gone.'), 'The table \\u202e\\u009b2J is gone.\n'],
  [new TypeError('x is undefined'), expect.stringMatching(/^TypeError: x is undefined\n {4}at /)],
  [new AggregateError([new Error('refused')]), expect.stringContaining('Error: refused\n')],
])('if the command throws %s, prints what the person needs and sets exit status 1', async (error, stderr) => {
  expect(await runWith(['a'], () => Promise.reject(error))).toMatchObject({ code: 1, stdout: '', stderr });
});

test('ends without a stack trace if its output is closed, as by | head', async () => {
  const child = spawn(process.execPath, ['tools/plants.ts', '--help']);
  child.stdout.destroy();
  expect(await Promise.all([text(child.stderr), once(child, 'exit')])).toEqual(['', [1, null]]);
});

test('says that its output cannot be written', () => {
  // This file is opened for reading only.
  const stdio = ['ignore' as const, openSync('package.json', 'r')];
  const { status, stderr } = spawnSync(process.execPath, ['tools/plants.ts', '--help'], { stdio });
  expect([status, String(stderr)]).toEqual([1, 'The output cannot be written: EBADF: bad file descriptor, write\n']);
});
