import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, expect, test, vi } from 'vitest';
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

test('without a stack, finds the table in the DynamoDB of the local run, at AWS_ENDPOINT_URL_DYNAMODB or DYNAMODB_PORT', async () => {
  for (const variables of [{}, { AWS_ENDPOINT_URL_DYNAMODB: '', DYNAMODB_PORT: new URL(engine.endpoint).port }]) {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    const { tableName, client } = await findTable('PlantsTable', undefined);
    expect(tableName).toBe('PlantsTable');
    expect((await client.send(new ListTablesCommand())).TableNames).toContain('PlantsTable');
  }
});

test('without a stack and a local run, says what to do', async () => {
  const message = 'There is no local run. Start npm start first, or name a deployed stack with --stack.';
  const otherDatabase = await startFakeService(() => ({ status: 400, headers: {}, body: '{}' }));
  for (const endpoint of ['http://127.0.0.1:1', otherDatabase]) {
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', endpoint);
    await expect(findTable('PlantsTable', undefined)).rejects.toThrow(message);
  }
});
