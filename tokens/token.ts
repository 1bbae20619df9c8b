import { parseArgs } from 'node:util';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { command } from '../local/command.ts';
import { loopbackEndpoint, openLocalDynamoDb } from '../local/dynamodb.ts';
import { synthesizedBefore } from '../local/synthesize.ts';
import { readTemplate } from '../local/template.ts';
import { AccessTokens } from './access-tokens.ts';

/*
 * npm run token: issues, lists and withdraws access tokens, in the local run's DynamoDB or, with
 * --stack, in a deployed stack's.
 */

const USAGE = `Usage:
  npm run token -- create --name NAME [--expires 90d] [--stack STACK]
  npm run token -- list [--stack STACK]
  npm run token -- revoke NAME [--stack STACK]

--expires takes minutes, hours or days (30m, 12h, 90d). Without --stack it is the local run's DynamoDB.`;

const TABLE_OUTPUT = 'AccessTokensTableName';

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

async function withTable(stack: string | undefined, use: (accessTokens: AccessTokens) => Promise<void>): Promise<void> {
  if (stack !== undefined) {
    await use(new AccessTokens(new DynamoDBClient(), await tableOfStack(stack)));
    return;
  }
  loopbackEndpoint();
  const template = readTemplate(await synthesizedBefore());
  const dynamoDb = await openLocalDynamoDb(template);
  try {
    await use(new AccessTokens(dynamoDb.client, template.outputs[TABLE_OUTPUT] ?? ''));
  } finally {
    await dynamoDb.close();
  }
}

async function tableOfStack(stack: string): Promise<string> {
  const { Stacks } = await new CloudFormationClient()
    .send(new DescribeStacksCommand({ StackName: stack }))
    .catch((error: Error) => {
      throw new Error(`The stack ${stack} cannot be read: ${error.message}`);
    });
  const output = Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === TABLE_OUTPUT);
  if (output?.OutputValue) return output.OutputValue;
  throw new Error(`The stack ${stack} has no output ${TABLE_OUTPUT}; is it a plant store, and deployed to its end?`);
}
