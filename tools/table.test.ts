import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startEngine } from '../test/support/engine.ts';
import { startFakeService } from '../test/support/fake-service.ts';
import { findTable } from './table.ts';

const engine = await startEngine();
beforeEach(() => void vi.unstubAllEnvs());

/** Uses a fake CloudFormation, whose only stack `plants` has these outputs ("DescribeStacks"). Returns the regions. */
async function useCloudFormation(outputs: Record<string, string>) {
  const regions: (string | undefined)[] = [];
  const members = Object.entries(outputs).map(([key, value]) => {
    return `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`;
  });
  const stacks = `<Stacks><member><Outputs>${members.join('')}</Outputs></member></Stacks>`;
  const found = `<DescribeStacksResponse><DescribeStacksResult>${stacks}</DescribeStacksResult></DescribeStacksResponse>`;
  const missing = '<ErrorResponse><Error><Code>ValidationError</Code><Message>x y</Message></Error></ErrorResponse>';
  const url = await startFakeService(({ headers, body }) => {
    regions.push(headers.authorization?.split('/')[2]);
    const exists = new URLSearchParams(body).get('StackName') === 'plants';
    return { status: exists ? 200 : 400, headers: {}, body: exists ? found : missing };
  });
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', url);
  return regions;
}

test('finds the table in an output of a stack in AWS_REGION', async () => {
  const regions = await useCloudFormation({ Other: 'x', PlantsTableName: 'first', AccessTokensTableName: 'second' });
  vi.stubEnv('AWS_REGION', 'eu-west-3');
  const { client, tableName } = await findTable('AccessTokensTable', 'plants');
  expect(tableName).toBe('second');
  expect([...regions, await client.config.region()]).toEqual(['eu-west-3', 'eu-west-3']);
});

test.each([
  ['other', 'us-east-1', /stack other .*: x y$/],
  ['plants', 'us-east-1', /stack plants .* PlantsTableName/],
  ['plants', undefined, /stack plants .* AWS_REGION/],
])('rejects the stack %s in the region %s', async (stack, region, message) => {
  await useCloudFormation({});
  vi.stubEnv('AWS_REGION', region);
  await expect(findTable('PlantsTable', stack)).rejects.toThrow(message);
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
  const otherDatabase = await startFakeService(() => ({ status: 400, headers: {}, body: '{}' }));
  for (const endpoint of ['http://127.0.0.1:1', otherDatabase]) {
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
    await expect(findTable('PlantsTable', undefined)).rejects.toThrow(/npm start.*\.env.*--stack/);
  }
});
