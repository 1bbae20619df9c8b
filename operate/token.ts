import { AccessTokens } from './access-tokens.ts';
import { checked, command, WrongArguments } from './command.ts';
import { withTable } from './table.ts';

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
  if (action === 'create' && operand === undefined && name !== undefined) {
    checked('--name', name, /^[\w.-]{1,64}$/, '1 to 64 letters, digits, dots, dashes or underscores');
    const createdAt = Math.floor(Date.now() / 1000);
    const expiresAt = createdAt + seconds(expires);
    await withAccessTokens(stack, async (accessTokens) => {
      console.log(await accessTokens.create(name, createdAt, expiresAt));
      console.error(`Token "${name}", valid until ${isoTime(expiresAt)}. It is shown this once.`);
    });
  } else if (action === 'list' && operand === undefined) {
    await withAccessTokens(stack, async (accessTokens) => {
      const rows = (await accessTokens.list()).map(({ name, createdAt, expiresAt }) => [
        name,
        isoTime(createdAt),
        isoTime(expiresAt) + (expiresAt * 1000 <= Date.now() ? ' (expired)' : ''),
      ]);
      const all = [['NAME', 'CREATED', 'EXPIRES'], ...rows];
      const width = Math.max(...all.map(([name = '']) => name.length));
      for (const [name = '', created = '', expires] of all)
        console.log(name.padEnd(width), created.padEnd(20), expires);
    });
  } else if (action === 'revoke' && operand !== undefined) {
    await withAccessTokens(stack, async (accessTokens) => {
      await accessTokens.revoke(operand);
      console.error(`Token "${operand}" is revoked; it is refused everywhere within 60 s.`);
    });
  } else {
    throw new WrongArguments('These arguments go together in none of the ways below.');
  }
});

function seconds(expires: string): number {
  const [count, unit] = checked(
    '--expires',
    expires,
    /^[1-9]\d{0,5}[mhd]$/,
    'a number of minutes, hours or days, as in 30m, 12h or 90d',
  ).split(/(?=[mhd])/);
  return Number(count) * (SECONDS_OF_UNIT[unit ?? ''] ?? 0);
}

function isoTime(secondsSince1970: number): string {
  return new Date(secondsSince1970 * 1000).toISOString().replace('.000', '');
}

function withAccessTokens(
  stack: string | undefined,
  use: (accessTokens: AccessTokens) => Promise<void>,
): Promise<void> {
  return withTable(stack, 'AccessTokensTableName', ({ client, tableName }) => use(new AccessTokens(client, tableName)));
}
