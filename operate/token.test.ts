import { afterAll, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { runToolHere } from '../test/support/tool.ts';
import { listTokens, revokeToken } from './access-tokens.ts';
import type { Table } from './table.ts';

// The assembly that all tests share: to synthesize another one takes seconds.
vi.mock(import('../local/dynamodb.ts'), async (original) => ({
  ...(await original()),
  SERVICE_ASSEMBLY: inject('assembly'),
}));

let engine: Engine;
let table: Table;
beforeAll(async () => {
  engine = await startEngine();
  table = { client: engine.client, tableName: engine.accessTokensTable };
});
afterAll(() => engine.close());
beforeEach(async () => {
  for (const { name } of await listTokens(table)) await revokeToken(table, name);
});

const token = (...args: string[]) => runToolHere('token', args);

test.each<[string[], number]>([
  [[], 90 * 24 * 60 * 60],
  [['--expires', '1m'], 60],
  [['--expires', '1h'], 60 * 60],
  [['--expires', '1d'], 24 * 60 * 60],
  [['--expires', '90m'], 90 * 60],
  [['--expires', '999999d'], 999_999 * 24 * 60 * 60],
])('with %j a token is valid for %i s from when it is created', async (args, seconds) => {
  const before = Math.floor(Date.now() / 1000);
  expect(await token('create', '--name', 'ci', ...args)).toMatchObject({ code: 0 });
  const [issued] = await listTokens(table);
  expect(issued?.createdAt).toBeGreaterThanOrEqual(before);
  expect(issued?.createdAt).toBeLessThanOrEqual(Date.now() / 1000);
  expect(issued?.expiresAt).toBe((issued?.createdAt ?? 0) + seconds);
});

test.each(['0d', '-1d', '1', 'd', '1s', '1D', '1.5h', '01h', '1 h', ' 1h', '1h ', '1hh', '1000000d', '1e3d', ''])(
  '"%s" is no time after which a token expires',
  async (expires) => {
    const { code, stdout, stderr } = await token('create', '--name', 'ci', `--expires=${expires}`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(
      `--expires was "${expires}"; it must be a number of minutes, hours or days, as in 30m, 12h or 90d.`,
    );
    expect(await listTokens(table)).toEqual([]);
  },
);

const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
const ALLOWED = ASCII.filter((character) => /[A-Za-z0-9._-]/.test(character));

test('a name has 1 to 64 letters, digits, dots, dashes or underscores', async () => {
  const [first, second] = [ALLOWED.join('').slice(0, 64), ALLOWED.join('').slice(64)];
  for (const name of [first, second, 'x']) expect(await token('create', `--name=${name}`)).toMatchObject({ code: 0 });
  expect((await listTokens(table)).map(({ name }) => name).toSorted()).toEqual([first, second, 'x'].toSorted());
});

test('no other name is taken', async () => {
  const others = [...ASCII.filter((character) => !ALLOWED.includes(character)), 'é', 'ſ', '１', '🌱'];
  for (const name of ['', 'x'.repeat(65), ...others, ...others.map((character) => `a${character}b`), 'x\n', '\nx']) {
    const { code, stdout, stderr } = await token('create', `--name=${name}`);
    expect({ name, code, stdout }).toEqual({ name, code: 1, stdout: '' });
    expect(stderr).toContain(`--name was "${name}"; it must be 1 to 64 letters, digits, dots, dashes or underscores.`);
  }
  expect(await listTokens(table)).toEqual([]);
});

test('the token alone is on stdout; the list tells its name and times, and nothing once it is revoked', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2031, 0, 1) });
  try {
    const created = await token('create', '--name', 'ci', '--expires', '1h');
    expect(created.stdout).toMatch(/^plantstore_\w{43}\n$/);
    expect(created.stderr).toBe('Token "ci", valid until 2031-01-01T01:00:00Z. It is shown this once.\n');
    const line = 'ci   2031-01-01T00:00:00Z 2031-01-01T01:00:00Z';
    const head = 'NAME CREATED              EXPIRES';
    vi.setSystemTime(Date.UTC(2031, 0, 1, 1) - 1);
    expect((await token('list')).stdout).toBe(`${head}\n${line}\n`);
    vi.setSystemTime(Date.UTC(2031, 0, 1, 1));
    expect((await token('list')).stdout).toBe(`${head}\n${line} (expired)\n`);
    await token('create', '--name', 'longer-name');
    expect((await token('list')).stdout.split('\n')[0]).toBe('NAME        CREATED              EXPIRES');
    expect((await token('revoke', 'longer-name')).stderr).toBe(
      'Token "longer-name" is revoked; it is refused everywhere within 60 s.\n',
    );
    expect((await listTokens(table)).map(({ name }) => name)).toEqual(['ci']);
  } finally {
    vi.useRealTimers();
  }
});

test.each([
  [['create']],
  [['create', 'ci', '--name', 'ci']],
  [['list', 'ci']],
  [['revoke']],
  [['drop', 'ci']],
  [['drop', '--name', 'ci']],
])('%j is none of the ways', async (args) => {
  const { code, stdout, stderr } = await token(...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    /^These arguments go together in none of the ways below.\n\nUsage:\n {2}npm run token -- create/,
  );
});

test('without an action it tells which there are', async () => {
  expect((await token()).stderr).toMatch(/^create, list or revoke is missing\.\n\nUsage:/);
});
