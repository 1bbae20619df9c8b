import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { projectRoot } from '../local/synthesize.ts';
import { type OwnService, startOwnService } from '../test/support/own-service.ts';
import { runTool } from '../test/support/tool.ts';

let service: OwnService;
beforeAll(async () => {
  service = await startOwnService();
  return service.close;
});

test.each<[string, 'smoke' | 'load', string[], NodeJS.ProcessEnv, RegExp]>([
  ['nobody listens', 'smoke', ['http://127.0.0.1:9'], {}, /^http:\/\/127\.0\.0\.1:9 does not answer: .+\.\n$/],
  [
    'the token is not valid',
    'smoke',
    ['SERVICE'],
    { PLANT_STORE_TOKEN: 'wrong' },
    /^The token is not valid at .+\.\n$/,
  ],
  ['the token is not valid', 'load', ['SERVICE'], { PLANT_STORE_TOKEN: 'wrong' }, /^The token is not valid at .+\.\n$/],
  [
    'the base URL is of another service',
    'smoke',
    ['SERVICE/v1'],
    {},
    /^There is no POST \/plants at .+\/v1; BASE_URL must be .+\.\n$/,
  ],
])('where %s, npm run %s ends with a sentence', async (_, tool, args, variables, sentence) => {
  const given = args.map((arg) => arg.replace('SERVICE', service.url));
  const { code, stdout, stderr } = await runTool(tool, given, { variables });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(sentence);
});

test.each<[string, string[], string]>([
  ['smoke', [], 'BASE_URL is missing.'],
  ['smoke', ['http://127.0.0.1:9', 'http://127.0.0.1:8'], 'There is no place for "http://127.0.0.1:8".'],
  ['smoke', ['http://127.0.0.1:9', '--token='], 'There is no token, neither after --token nor in PLANT_STORE_TOKEN.'],
  ['smoke', ['http://127.0.0.1:9', '--fast'], "Unknown option '--fast'."],
  ['smoke', ['http://127.0.0.1:9', '--token'], "Option '--token <value>' argument missing"],
  ['load', ['plants.example.com'], 'BASE_URL was "plants.example.com"; it must be an http or https address.'],
  ['load', ['http://a.example', '--duration', '9s'], '--duration was "9s"; it must be a number from 1 to 999999.'],
  ['load', ['http://a.example', '--rate', '0'], '--rate was "0"; it must be a number from 1 to 999999.'],
  ['load', ['http://a.example', '--rate', '1000000'], '--rate was "1000000"; it must be a number from 1 to 999999.'],
  ['restore', [], '--from is missing.'],
  ['token', ['create'], 'These arguments go together in none of the ways below.'],
])('npm run %s with the arguments %j ends with what is wrong, and the usage', async (tool, args, sentence) => {
  const { code, stdout, stderr } = await runTool(tool, args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.startsWith(sentence)).toBe(true);
  expect(stderr).toContain(`\n\nUsage:`);
  expect(stderr).not.toMatch(/^\s+at /m);
});

test('--help prints the usage', async () => {
  const { code, stdout, stderr } = await runTool('restore', ['--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Usage: npm run restore -- --from TABLE /);
});

test.each<[string, string[]]>([
  ['smoke', []],
  ['load', ['--duration', '1', '--rate', '10']],
])('npm run %s ends quietly where nobody reads on, with the exit status of SIGPIPE', async (tool, args) => {
  const child = spawn(process.execPath, [join('operate', `${tool}.ts`), service.url, ...args], {
    cwd: projectRoot,
    env: { ...process.env, PLANT_STORE_TOKEN: DEVELOPMENT_TOKEN },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(stderr.replaceAll(/^\d+ s: .*\n/gm, '')).toBe('');
  expect(code).toBe(141);
});
