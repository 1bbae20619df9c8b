import type { AccessTokenItem } from '../functions/shared/access-tokens/token.ts';
import { createToken, listTokens, revokeToken } from './access-tokens.ts';
import { checked, command, WrongArguments } from './command.ts';
import { type Table, withTable } from './table.ts';

/*
 * npm run token: issues, lists and withdraws access tokens, in the local run's DynamoDB or, with
 * --stack, in a deployed stack's.
 */

const USAGE = `Usage:
  npm run token -- create --name NAME [--expires 90d] [--stack STACK]
  npm run token -- list [--stack STACK]
  npm run token -- revoke NAME [--stack STACK]

--expires takes minutes, hours or days (30m, 12h, 90d). Without --stack it is the local run's DynamoDB.`;

const OPTIONS = {
  name: { type: 'string' },
  expires: { type: 'string', default: '90d' },
  stack: { type: 'string' },
} as const;

const SECONDS_OF_UNIT: Record<string, number> = { m: 60, h: 3600, d: 86_400 };

const commandLine = { usage: USAGE, options: OPTIONS, operands: ['create, list or revoke', '[NAME]'] };

await command(commandLine, async ({ name, expires, stack }, [action, operand]) => {
  const withTokens = (use: (table: Table) => Promise<void>) => withTable(stack, 'AccessTokensTableName', use);
  if (action === 'create' && operand === undefined && name !== undefined) {
    checked('--name', name, /^[\w.-]{1,64}$/, '1 to 64 letters, digits, dots, dashes or underscores');
    const createdAt = Math.floor(Date.now() / 1000);
    const expiresAt = createdAt + seconds(expires);
    await withTokens(async (table) => {
      console.log(await createToken(table, name, createdAt, expiresAt));
      console.error(`Token "${name}", valid until ${isoTime(expiresAt)}. It is shown this once.`);
    });
  } else if (action === 'list' && operand === undefined) {
    await withTokens(async (table) => print(await listTokens(table)));
  } else if (action === 'revoke' && operand !== undefined) {
    await withTokens((table) => revokeToken(table, operand));
    console.error(`Token "${operand}" is revoked; it is refused everywhere within 60 s.`);
  } else {
    throw new WrongArguments('These arguments go together in none of the ways below.');
  }
});

function print(tokens: AccessTokenItem[]): void {
  const width = Math.max('NAME'.length, ...tokens.map(({ name }) => name.length));
  console.log('NAME'.padEnd(width), 'CREATED'.padEnd(20), 'EXPIRES');
  for (const { name, createdAt, expiresAt } of tokens) {
    const expired = expiresAt * 1000 <= Date.now() ? ' (expired)' : '';
    console.log(name.padEnd(width), isoTime(createdAt), isoTime(expiresAt) + expired);
  }
}

function seconds(expires: string): number {
  const mustBe = 'a number of minutes, hours or days, as in 30m, 12h or 90d';
  checked('--expires', expires, /^[1-9]\d{0,5}[mhd]$/, mustBe);
  return Number.parseInt(expires, 10) * (SECONDS_OF_UNIT[expires.slice(-1)] ?? 0);
}

function isoTime(secondsSince1970: number): string {
  return new Date(secondsSince1970 * 1000).toISOString().replace('.000', '');
}
