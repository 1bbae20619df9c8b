import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { closedAtEnd } from '../test/support/closed-at-end.ts';
import { startEngine } from '../test/support/engine.ts';
import { startFakeService } from '../test/support/fake-service.ts';
import { findTable } from './table.ts';

const engine = closedAtEnd(await startEngine());
beforeEach(() => void vi.unstubAllEnvs());

/** Uses a fake CloudFormation, whose only stack `plants` has these outputs ("DescribeStacks", API Reference). */
async function useCloudFormation(outputs: Record<string, string>): Promise<void> {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const found = `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
  const missing =
    '<ErrorResponse><Error><Code>ValidationError</Code><Message>It does not exist</Message></Error></ErrorResponse>';
  const url = await startFakeService(({ body }) => {
    const exists = new URLSearchParams(body).get('StackName') === 'plants';
    return { status: exists ? 200 : 400, headers: {}, body: exists ? found : missing };
  });
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', url);
}

test('finds the table in an output of a stack', async () => {
  await useCloudFormation({ Other: 'x', PlantsTableName: 'first', AccessTokensTableName: 'second' });
  expect(await findTable('AccessTokensTable', 'plants')).toMatchObject({ tableName: 'second' });
  expect(await findTable('PlantsTable', 'plants')).toMatchObject({ tableName: 'first' });
});

test.each([
  ['other', 'The stack other cannot be read: It does not exist'],
  ['plants', 'The stack plants has no output PlantsTableName; it must be a deployed stack of this service.'],
])('rejects the stack %s without the output', async (stack, message) => {
  await useCloudFormation({});
  await expect(findTable('PlantsTable', stack)).rejects.toThrow(new Error(message));
});

test('says to set AWS_REGION if no region is known', async () => {
  vi.stubEnv('AWS_REGION', undefined);
  await expect(findTable('PlantsTable', 'plants')).rejects.toThrow(
    'The stack plants cannot be read: Region is missing. Set AWS_REGION to the region of the stack.',
  );
});

test('reads .env to find the tables of the local run, but not for a stack', async () => {
  await useCloudFormation({ PlantsTableName: 'first' });
  for (const name of ['AWS_ENDPOINT_URL_DYNAMODB', 'DYNAMODB_PORT']) vi.stubEnv(name, undefined);
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  process.chdir(mkdtempSync(join(tmpdir(), 'env-')));
  writeFileSync('.env', `DYNAMODB_PORT=${new URL(engine.endpoint).port}`);
  await findTable('PlantsTable', 'plants');
  expect(process.env['DYNAMODB_PORT'], 'what .env sets').toBeUndefined();
  const { tableName, client } = await findTable('PlantsTable', undefined);
  expect((await client.send(new ListTablesCommand())).TableNames).toContain(tableName);
});

test('without a stack and a local run, says what to do', async () => {
  const message = 'There is no local run. Run npm start first. If it uses other ports, put them into the file .env. ';
  const otherDatabase = await startFakeService(() => ({ status: 400, headers: {}, body: '{}' }));
  for (const endpoint of ['http://127.0.0.1:1', otherDatabase]) {
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
    await expect(findTable('PlantsTable', undefined)).rejects.toThrow(message);
  }
});
