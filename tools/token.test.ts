import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { digestOf, TOKEN_PATTERN } from '../functions/tokens/token.ts';
import { closedAtEnd } from '../test/support/closed-at-end.ts';
import { runCommand } from '../test/support/command.ts';
import { startDynamoDbProxy } from '../test/support/dynamodb-proxy.ts';
import { startEngine } from '../test/support/engine.ts';

const engine = closedAtEnd(await startEngine());
beforeEach(async () => {
  await engine.clear(engine.accessTokensTable);
});

const token = (...args: string[]) => runCommand('token', args);

async function storedItems(): Promise<Record<string, string | undefined>[]> {
  const items = await engine.items(engine.accessTokensTable);
  return items.map((item) => Object.fromEntries(Object.entries(item).map(([name, { S, N }]) => [name, S ?? N])));
}

function setTime(time: string): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(time) });
  onTestFinished(() => {
    vi.useRealTimers();
  });
}

test('prints only the new token to stdout, and stores only its digest', async () => {
  setTime('2031-01-01T00:00:00Z');
  const { code, stdout, stderr } = await token('create', '--name', 'ci', '--expires', '1h');
  expect(code).toBe(0);
  expect(stdout.trimEnd()).toMatch(TOKEN_PATTERN);
  expect(stderr).toBe('Token "ci" is valid until 2031-01-01T01:00:00Z. It is not shown again.\n');
  const createdAt = Date.parse('2031-01-01T00:00:00Z') / 1000;
  expect(await storedItems()).toEqual([
    { digest: digestOf(stdout.trimEnd()), name: 'ci', createdAt: `${createdAt}`, expiresAt: `${createdAt + 3600}` },
  ]);
});

test.each<[string[], number]>([
  [[], 90 * 86_400],
  [['--expires', '1m'], 60],
  [['--expires', '3650d'], 3650 * 86_400],
])('with %j, the token is valid for %i s', async (args, seconds) => {
  await token('create', '--name', 'ci', ...args);
  const [item] = await storedItems();
  expect(Number(item?.['expiresAt']) - Number(item?.['createdAt'])).toBe(seconds);
});

const EXPIRES_EXPECTED = 'it must be a number of minutes, hours or days, such as 30m, 12h or 90d.';
const NAME_EXPECTED = 'it must be 1 to 64 letters, digits, dots, dashes or underscores.';

test.each([
  ...['0d', '1', '1s', '1.5h', ' 1h'].map((value) => ({
    args: ['--name=ci', `--expires=${value}`],
    message: `--expires was "${value}"; ${EXPIRES_EXPECTED}`,
  })),
  ...['3651d', '87601h', '5256001m', `${'9'.repeat(400)}d`].map((value) => ({
    args: ['--name=ci', `--expires=${value}`],
    message: `--expires was "${value}"; it must be at most 3650d, ten years.`,
  })),
  ...['', 'x'.repeat(65), 'a b', 'é', 'x\n'].map((value) => ({
    args: [`--name=${value}`],
    message: `--name was "${value}"; ${NAME_EXPECTED}`,
  })),
])('rejects $args', async ({ args, message }) => {
  const { code, stdout, stderr } = await token('create', ...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`${message}\n\nUsage:`);
  expect(await storedItems()).toEqual([]);
});

test('lists the names and times of all tokens, sorted by name, from all pages of the table', async () => {
  setTime('2031-01-01T00:00:00Z');
  const names = ['zeta', 'alpha', `Beta.b-${'x'.repeat(55)}_0`];
  for (const [index, name] of names.entries()) await token('create', '--name', name, '--expires', `${index + 1}h`);
  const scans: { ConsistentRead?: boolean }[] = [];
  const endpoint = await startDynamoDbProxy(engine, (action, input, send) => {
    if (action !== 'Scan') return send(input);
    scans.push(input);
    return send({ ...input, Limit: 1 });
  });
  setTime('2031-01-01T02:00:00Z');
  const { stdout } = await runCommand('token', ['list'], { AWS_ENDPOINT_URL_DYNAMODB: endpoint });
  expect(stdout.split('\n')).toEqual([
    `${'NAME'.padEnd(64)} CREATED              EXPIRES`,
    `${'alpha'.padEnd(64)} 2031-01-01T00:00:00Z 2031-01-01T02:00:00Z (expired)`,
    `${names[2]} 2031-01-01T00:00:00Z 2031-01-01T03:00:00Z`,
    `${'zeta'.padEnd(64)} 2031-01-01T00:00:00Z 2031-01-01T01:00:00Z (expired)`,
    '',
  ]);
  expect(scans.every(({ ConsistentRead }) => ConsistentRead)).toBe(true);
});

test('revokes every token with a name, and no other', async () => {
  await token('create', '--name', 'ci');
  await token('create', '--name', 'ci-2');
  await engine.putToken('created at the same time', 'ci', 2_000_000_000);
  const stderr = 'Token "ci" is revoked; it is rejected everywhere within 60 s.\n';
  expect(await token('revoke', '--name', 'ci')).toMatchObject({ code: 0, stderr });
  expect((await storedItems()).map(({ name }) => name)).toEqual(['ci-2']);
});

test('rejects a new token with a name in use, and a revocation of an unknown name', async () => {
  await token('create', '--name', 'ci');
  const before = await storedItems();
  expect((await token('create', '--name', 'ci')).stderr).toBe(
    'The name "ci" is in use; revoke that token first, or choose another name.\n',
  );
  expect((await token('revoke', '--name', 'CI')).stderr).toBe('There is no token named "CI".\n');
  expect(await storedItems()).toEqual(before);
});

test.each([
  [[], 'The command (create, list or revoke) is missing.'],
  [['drop', '--name', 'ci'], 'The command was "drop"; it must be create, list or revoke.'],
  [['revoke'], '--name is missing; it must be the name of the token.'],
])('rejects %j', async (args, message) => {
  const { code, stdout, stderr } = await token(...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`${message}\n\nUsage:\n  npm run token -- create`);
});
