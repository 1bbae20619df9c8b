import { parseArgs } from 'node:util';
import { AccessTokens } from './access-tokens.ts';
import { command } from './command.ts';
import { withTables } from './tables.ts';

/*
 * npm run token: issues, lists and withdraws access tokens, in the local run's DynamoDB or, with
 * --stack, in a deployed stack's.
 */

const USAGE = `Usage:
  npm run token -- create --name NAME [--expires 90d] [--stack STACK]
  npm run token -- list [--stack STACK]
  npm run token -- revoke NAME [--stack STACK]

--expires takes minutes, hours or days (30m, 12h, 90d). Without --stack it is the local run's DynamoDB.`;

await command(async () => {
  const { action, operand, values } = readArguments();
  if (action === 'create' && operand === undefined && values.name !== undefined) {
    const name = checkedName(values.name);
    const createdAt = Math.floor(Date.now() / 1000);
    const expiresAt = createdAt + seconds(values.expires);
    await withTable(values.stack, async (accessTokens) => {
      console.log(await accessTokens.create(name, createdAt, expiresAt));
      console.error(`Token "${name}", valid until ${isoTime(expiresAt)}. It is shown this once.`);
    });
  } else if (action === 'list' && operand === undefined) {
    await withTable(values.stack, async (accessTokens) => {
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
    await withTable(values.stack, async (accessTokens) => {
      await accessTokens.revoke(operand);
      console.error(`Token "${operand}" is revoked; it is refused everywhere within 60 s.`);
    });
  } else {
    throw new Error(USAGE);
  }
});

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: {
        name: { type: 'string' },
        expires: { type: 'string', default: '90d' },
        stack: { type: 'string' },
      },
      allowPositionals: true,
    });
    const [action, operand, ...others] = positionals;
    if (others.length > 0) throw new Error(`There is no place for "${others.join(' ')}".`);
    return { action, operand, values };
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${USAGE}`);
  }
}

function checkedName(name: string): string {
  if (/^[\w.-]{1,64}$/.test(name)) return name;
  throw new Error(`--name was "${name}"; it must be 1 to 64 letters, digits, dots, dashes or underscores.`);
}

function seconds(expires: string): number {
  const [, count, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(expires) ?? [];
  if (count !== undefined && unit !== undefined) return Number(count) * ({ m: 60, h: 3600, d: 86_400 }[unit] ?? 0);
  throw new Error(`--expires was "${expires}"; it must be a number of minutes, hours or days, as in 30m, 12h or 90d.`);
}

function isoTime(secondsSince1970: number): string {
  return new Date(secondsSince1970 * 1000).toISOString().replace('.000', '');
}

function withTable(stack: string | undefined, use: (accessTokens: AccessTokens) => Promise<void>): Promise<void> {
  return withTables(stack, ({ client, tableName }) =>
    use(new AccessTokens(client, tableName('AccessTokensTableName'))),
  );
}
