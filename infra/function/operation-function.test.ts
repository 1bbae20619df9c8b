import { expect, test } from 'vitest';
import {
  functionOf,
  permissionsOf,
  propertiesOf,
  TABLES,
  templateWith,
  twoOperations,
  waterPlant,
} from '../../test/support/stack.ts';
import type { Action, GrantedOperation } from '../operations.ts';
import type { TableName } from '../tables.ts';

const template = templateWith({});
const tokenReader: GrantedOperation = { ...waterPlant, grants: { accessTokens: ['GetItem'] } };

const VARIABLES: Record<TableName, string> = {
  plants: 'PLANTS_TABLE_NAME',
  accessTokens: 'ACCESS_TOKENS_TABLE_NAME',
};

test.each(twoOperations)(
  '$operationId runs on Node.js 24 and arm64, traced, with a JSON log of its own',
  (operation) => {
    const { properties, logGroup } = functionOf(template, operation);
    expect(properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      // With less memory it starts several times slower; with more it still waits for DynamoDB (docs/decisions.md).
      MemorySize: 512,
      // The calls to DynamoDB end 4 s before this, and the gateway waits for 29 s.
      Timeout: 10,
      TracingConfig: { Mode: 'Active' },
    });
    // Without levels: a level above INFO would drop the lines that are counted.
    expect(properties.LoggingConfig).toEqual({ LogFormat: 'JSON', LogGroup: { Ref: logGroup } });
    expect(propertiesOf(template, 'AWS::Logs::LogGroup')[logGroup]).toMatchObject({ RetentionInDays: 30 });
  },
);

test.each([
  ...twoOperations.map((operation) => ({ operation, stack: template })),
  { operation: tokenReader, stack: templateWith({}, [tokenReader]) },
])(
  '$operation.operationId has the permissions and table names of its grants $operation.grants',
  ({ operation, stack }) => {
    const { properties, roleId, logGroup } = functionOf(stack, operation);
    const grants = Object.entries(operation.grants) as [TableName, Action[]][];
    expect(permissionsOf(stack, roleId)).toEqual(
      [
        ...grants.flatMap(([name, actions]) => actions.map((action) => `dynamodb:${action} ${TABLES[name]}.Arn`)),
        `logs:CreateLogStream ${logGroup}.Arn`,
        `logs:PutLogEvents ${logGroup}.Arn`,
        'xray:PutTelemetryRecords *',
        'xray:PutTraceSegments *',
      ].toSorted(),
    );
    const role = propertiesOf(stack, 'AWS::IAM::Role')[roleId];
    expect(role).not.toHaveProperty('ManagedPolicyArns');
    expect(role).not.toHaveProperty('Policies');
    expect(properties.Environment.Variables).toEqual(
      Object.fromEntries(grants.map(([name]) => [VARIABLES[name], { Ref: TABLES[name] }])),
    );
  },
);

test('createPlant can put plants and get access tokens, and nothing else in the database', () => {
  const [createPlant] = twoOperations.filter(({ operationId }) => operationId === 'createPlant');
  expect(createPlant?.grants).toEqual({ plants: ['PutItem'], accessTokens: ['GetItem'] });
});

test('no two functions share a role or a log group', () => {
  const functions = Object.values(propertiesOf(template, 'AWS::Lambda::Function'));
  const count = 2 * twoOperations.length;
  expect(new Set(functions.map(({ Role }) => Role['Fn::GetAtt'][0])).size).toBe(count);
  expect(new Set(functions.map(({ LoggingConfig }) => LoggingConfig.LogGroup.Ref)).size).toBe(count);
});

const PROVIDER = { tokenIssuer: 'https://id.example.com', tokenAudience: 'plants,gardens' };

test.each([
  [{ allowOrigins: 'https://a.example' }, { ALLOW_ORIGINS: 'https://a.example' }],
  [PROVIDER, { TOKEN_ISSUER: 'https://id.example.com', TOKEN_AUDIENCE: 'plants,gardens' }],
  [
    { ...PROVIDER, tokenScope: 'plants/write' },
    { TOKEN_ISSUER: 'https://id.example.com', TOKEN_AUDIENCE: 'plants,gardens', TOKEN_SCOPE: 'plants/write' },
  ],
])('every function gets the settings %j', (settings, variables) => {
  for (const { Environment } of Object.values(propertiesOf(templateWith(settings), 'AWS::Lambda::Function'))) {
    const { OPERATION_ID, FUNCTION_ARN, PLANTS_TABLE_NAME, ACCESS_TOKENS_TABLE_NAME, ...others } =
      Environment.Variables;
    expect(others).toEqual(variables);
  }
});
