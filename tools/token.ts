import { DeleteItemCommand, PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb';
import { CACHED_MS } from '../functions/tokens/opaque-token-verifier.ts';
import { fromTokenItem, newToken, type StoredToken, tokenKey } from '../functions/tokens/token.ts';
import { ACCESS_TOKENS_TABLE } from '../infra/shared-with-local-run/table-keys.ts';
import { command, requireMatch, UsageError } from './command.ts';
import { isoTime } from './iso-time.ts';
import { printable } from './printable.ts';
import { findTable, type Table } from './table.ts';

const USAGE = `Usage:
  npm run token -- create --name NAME [--expires 90d] [--stack STACK]
  npm run token -- list [--stack STACK]
  npm run token -- revoke --name NAME [--stack STACK]

Creates, lists and revokes access tokens. --expires is the token's lifetime in minutes, hours or days (30m, 12h, 90d),
by default 90d, at most 3650d. Without --stack, the tokens are those of the local run.

Prints only the new token to stdout. To capture it, use --silent, or npm adds lines of its own:
  TOKEN=$(npm run --silent token -- create --name NAME)`;

const OPTIONS = { name: { type: 'string' }, expires: { type: 'string' }, stack: { type: 'string' } } as const;

const MAX_LIFETIME_DAYS = 3650;
const SECONDS_PER_UNIT: Record<string, number> = { m: 60, h: 3600, d: 86_400 };

const OPTIONS_OF: Record<string, string[]> = { create: ['name', 'expires'], list: [], revoke: ['name'] };
const ACTIONS = 'create, list or revoke';
const ARG = `The command (${ACTIONS})`;

await command({ usage: USAGE, options: OPTIONS, arg: ARG }, async ({ stack, ...values }, action) => {
  requireMatch('The command', action, /^(create|list|revoke)$/, ACTIONS);
  const unused = Object.keys(values).find((option) => !OPTIONS_OF[action]?.includes(option));
  if (unused !== undefined) throw new UsageError(`The command ${action} does not take --${unused}.`);
  const { name, expires = '90d' } = values;
  const tokensTable = () => findTable(ACCESS_TOKENS_TABLE, stack);
  if (action === 'list') return printTokens(await readTokens(await tokensTable()));
  if (name === undefined) throw new UsageError('--name is missing; it must be the name of the token.');
  if (action === 'revoke') return await revokeTokens(await tokensTable(), name);
  requireMatch('--name', name, /^[\w.-]{1,64}$/, '1 to 64 letters, digits, dots, dashes or underscores');
  requireMatch('--expires', expires, /^[1-9]\d*[mhd]$/, 'a number of minutes, hours or days, such as 30m, 12h or 90d');
  const lifetimeSeconds = Number.parseInt(expires, 10) * (SECONDS_PER_UNIT[expires.slice(-1)] ?? 0);
  if (lifetimeSeconds > MAX_LIFETIME_DAYS * 86_400) {
    throw new UsageError(`--expires was "${expires}"; it must be at most ${MAX_LIFETIME_DAYS}d, ten years.`);
  }
  await createToken(await tokensTable(), name, lifetimeSeconds);
});

async function createToken(table: Table, name: string, lifetimeSeconds: number): Promise<void> {
  if ((await readTokens(table)).some((token) => token.name === name)) {
    throw new Error(`The name "${name}" is in use; revoke that token first, or choose another name.`);
  }
  const createdAt = Math.floor(Date.now() / 1000);
  const expiresAt = createdAt + lifetimeSeconds;
  const { token, item } = newToken(name, createdAt, expiresAt);
  await table.client.send(new PutItemCommand({ TableName: table.tableName, Item: item }));
  console.log(token);
  console.error(`Token "${name}" is valid until ${isoTime(expiresAt)}. It is not shown again.`);
}

/** Reads all tokens, sorted by name. Includes expired tokens until the table's time to live (TTL) deletes them. */
async function readTokens({ client, tableName }: Table): Promise<StoredToken[]> {
  const pages = await Array.fromAsync(paginateScan({ client }, { TableName: tableName, ConsistentRead: true }));
  return pages.flatMap(({ Items = [] }) => Items.map(fromTokenItem)).toSorted((a, b) => a.name.localeCompare(b.name));
}

/** Deletes each token with this name; two commands at the same time can create two. Throws if there is none. */
async function revokeTokens(table: Table, name: string): Promise<void> {
  const tokens = (await readTokens(table)).filter((token) => token.name === name);
  if (tokens.length === 0) throw new Error(`There is no token named "${name}".`);
  for (const { digest } of tokens) {
    await table.client.send(new DeleteItemCommand({ TableName: table.tableName, Key: tokenKey(digest) }));
  }
  console.error(`Token "${name}" is revoked; it is rejected everywhere within ${CACHED_MS / 1000} s.`);
}

function printTokens(tokens: StoredToken[]): void {
  const rows = tokens.map(({ name, createdAt, expiresAt }) => {
    const expired = expiresAt * 1000 <= Date.now() ? ' (expired)' : '';
    return [printable(name, ''), isoTime(createdAt), isoTime(expiresAt) + expired] as const;
  });
  const width = Math.max('NAME'.length, ...rows.map(([name]) => name.length));
  for (const [name, created, expires] of [['NAME', 'CREATED', 'EXPIRES'] as const, ...rows]) {
    console.log(`${name.padEnd(width)} ${created.padEnd(20)} ${expires}`);
  }
}
