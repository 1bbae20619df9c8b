import { expect, test } from 'vitest';
import { EVERYTHING, idOf, propertiesOf, templateWith } from '../test/support/stack.ts';

const template = templateWith();
const { Code: _, ...lambda } = propertiesOf(template, 'AWS::Lambda::Function');

const Variables = {
  PLANTS_TABLE_NAME: 'PlantsTable',
  ACCESS_TOKENS_TABLE_NAME: 'AccessTokensTable',
  AWS_ENDPOINT_URL_DYNAMODB: 'https://dynamodb.AWS::Region.AWS::URLSuffix',
};

test('the function has this handler, runtime, memory and time, and no limit of its concurrency', () => {
  expect(lambda).toEqual({
    Description: 'Serves the API of Plant Store',
    Handler: 'index.handler',
    Runtime: 'nodejs24.x',
    Architectures: ['arm64'],
    // With less memory, a cold start takes several times longer. With more, it still waits for DynamoDB.
    MemorySize: 512,
    Timeout: 10,
    Role: `${idOf(template, 'AWS::IAM::Role', 'Function')}.Arn`,
    // No log level: a level above INFO would drop the lines that metrics count.
    LoggingConfig: { LogFormat: 'JSON', LogGroup: idOf(template, 'AWS::Logs::LogGroup', 'Function') },
    Environment: { Variables },
  });
});

test('the function gets the settings as variables', () => {
  const { identityProvider } = EVERYTHING;
  const stack = templateWith({ identityProvider, allowOrigins: ['https://a.example', 'https://b.example'] });
  expect(propertiesOf(stack, 'AWS::Lambda::Function').Environment.Variables).toEqual({
    ...Variables,
    ALLOW_ORIGINS: 'https://a.example,https://b.example',
    TOKEN_ISSUER: 'https://id.example.com',
    TOKEN_AUDIENCE: 'plants,gardens',
    TOKEN_SCOPE: 'write',
  });
});
