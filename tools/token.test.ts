import { hash } from 'node:crypto';
import { beforeEach, expect, test, vi } from 'vitest';
import { TOKEN_PATTERN } from '../functions/tokens/token.ts';
import { runCommand } from '../test/support/command.ts';
import { startPagingProxy } from '../test/support/dynamodb-proxy.ts';
import { startEngine } from '../test/support/engine.ts';

const engine = await startEngine();
beforeEach(async () => {
  vi.useRealTimers();
  await engine.clear(engine.accessTokensTable);
});

const used = `Uses the local run at ${engine.endpoint}.\n`;
const token = (...args: string[]) => runCommand('token', args);

const storedItems = () => engine.items(engine.accessTokensTable);

const setTime = (time: string) => vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(time) });

test.each([
  [[], '2031-04-01T00:00:00Z'],
  [['--expires', '12h'], '2031-01-01T12:00:00Z'],
  [['--expires', '3650d'], '2040-12-29T00:00:00Z'],
])('with %j, prints only the new token to stdout, and stores only its digest, valid until %s', async (args, until) => {
  setTime('2031-01-01T00:00:00Z');
  const { code, stdout, stderr } = await token('create', '--name', 'ci', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(`^${used}.*"ci".* ${until}.*\n$`) });
  expect(stdout.trimEnd()).toMatch(TOKEN_PATTERN);
  const digest = { S: hash('sha256', stdout.trimEnd()) };
  const [createdAt, expiresAt] = ['2031-01-01', until].map((time) => ({ N: String(Date.parse(time) / 1000) }));
  expect(await storedItems()).toEqual([{ digest, name: { S: 'ci' }, createdAt, expiresAt }]);
});

/** A command line with an invalid option, and what the error contains. */
const invalid =
  (option: string) =>
  (value: string): [string[], string] => [['create', '--name=ci', `--${option}=${value}`], `--${option} .*"${value}"`];

test.each<[string[], string]>([
  [['drop', '--name', 'ci'], '"drop".*create, list or revoke'],
  [['list', '--name', 'ci'], 'list .*--name'],
  [['revoke', '--name', 'ci', '--expires', '1h'], 'revoke .*--expires'],
  [['revoke'], '--name'],
  ...['0d', '1', '1s', '1.5h', ' 1h', '3651d', '87601h', '5256001m'].map(invalid('expires')),
  ...['', 'x'.repeat(65), 'a b', 'é', 'x\n'].map(invalid('name')),
])('rejects %j', async (args, message) => {
  const stderr = expect.stringMatching(`^.*${message}.*\n\nUsage:\n`);
  expect(await token(...args)).toEqual({ code: 1, stdout: '', stderr });
  expect(await storedItems()).toEqual([]);
});

test('lists the names and times of all tokens, sorted by name, from all pages of the table', async () => {
  setTime('2031-01-01T00:00:00Z');
  const names = ['zeta', 'alpha', `Beta.b-${'x'.repeat(55)}_0`];
  for (const [index, name] of names.entries()) await token('create', '--name', name, '--expires', `${index + 1}h`);
  // In milliseconds, it is later than the last time of a Date.
  await engine.putToken('stored by another program', 'other\u009b\n\t', 1e15);
  const { url, scans } = await startPagingProxy(engine);
  setTime('2031-01-01T02:00:00Z');
  const { stdout } = await runCommand('token', ['list'], { AWS_ENDPOINT_URL_DYNAMODB: url });
  expect(stdout.split('\n')).toEqual([
    `${'NAME'.padEnd(64)} CREATED              EXPIRES`,
    `${'alpha'.padEnd(64)} 2031-01-01T00:00:00Z 2031-01-01T02:00:00Z (expired)`,
    `${names[2]} 2031-01-01T00:00:00Z 2031-01-01T03:00:00Z`,
    `${'other\\u009b\\u000a\\u0009'.padEnd(64)} 1970-01-01T00:00:00Z 1000000000000000 s`,
    `${'zeta'.padEnd(64)} 2031-01-01T00:00:00Z 2031-01-01T01:00:00Z (expired)`,
    '',
  ]);
  expect(scans.filter(({ ConsistentRead }) => !ConsistentRead)).toEqual([]);
});

test('revokes every token with a name, and no other', async () => {
  await token('create', '--name', 'ci');
  await token('create', '--name', 'ci-2');
  await engine.putToken('created at the same time', 'ci', 2_000_000_000);
  const stderr = expect.stringMatching(`^${used}.*"ci".* 60 s.*\n$`);
  expect(await token('revoke', '--name', 'ci')).toMatchObject({ code: 0, stderr });
  expect((await storedItems()).map(({ name }) => name?.S)).toEqual(['ci-2']);
});

test('rejects a new token with a name in the list, also that of an expired token, and an unknown name to revoke', async () => {
  setTime('2031-01-01T00:00:00Z');
  await token('create', '--name', 'ci', '--expires', '1m');
  setTime('2031-01-01T00:01:00Z');
  const before = await storedItems();
  const error = (name: string) => ({ code: 1, stdout: '', stderr: expect.stringMatching(`^${used}.*"${name}".*\n$`) });
  expect(await token('create', '--name', 'ci')).toEqual(error('ci'));
  expect(await token('revoke', '--name', 'CI')).toEqual(error('CI'));
  expect(await storedItems()).toEqual(before);
});
