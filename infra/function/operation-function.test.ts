import { expect, test } from 'vitest';
import {
  ACCESS_TOKENS,
  functionOf,
  PLANTS,
  permissionsOf,
  propertiesOf,
  templateWith,
  twoOperations,
  waterPlant,
} from '../../test/support/stack.ts';
import type { GrantedOperation } from '../operations.ts';

const template = templateWith({});
const tokenReader: GrantedOperation = { ...waterPlant, grants: { accessTokens: ['GetItem'] } };

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
    const { plants = [], accessTokens = [] } = operation.grants;
    expect(permissionsOf(stack, roleId)).toEqual(
      [
        ...plants.map((action) => `dynamodb:${action} ${PLANTS}.Arn`),
        ...accessTokens.map((action) => `dynamodb:${action} ${ACCESS_TOKENS}.Arn`),
        `logs:CreateLogStream ${logGroup}.Arn`,
        `logs:PutLogEvents ${logGroup}.Arn`,
        'xray:PutTelemetryRecords *',
        'xray:PutTraceSegments *',
      ].toSorted(),
    );
    const role = propertiesOf(stack, 'AWS::IAM::Role')[roleId];
    expect(role).not.toHaveProperty('ManagedPolicyArns');
    expect(role).not.toHaveProperty('Policies');
    expect(properties.Environment.Variables).toEqual({
      ...(plants.length > 0 && { PLANTS_TABLE_NAME: { Ref: PLANTS } }),
      ACCESS_TOKENS_TABLE_NAME: { Ref: ACCESS_TOKENS },
    });
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
