import { expect, test } from 'vitest';
import { EVERYTHING, onlyIdOf, onlyOf, propertiesOf, templateWith } from '../test/support/stack.ts';

const template = templateWith();
const logGroup = onlyIdOf(template, 'AWS::Logs::LogGroup', 'CreatePlant');

test('the function has this handler, runtime, memory and time, and no limit of its concurrency', () => {
  const { Code: _, ...createPlant } = onlyOf(template, 'AWS::Lambda::Function', 'CreatePlant');
  expect(createPlant).toEqual({
    Description: 'POST /plants',
    Handler: 'index.handler',
    Runtime: 'nodejs24.x',
    Architectures: ['arm64'],
    // With less memory, a cold start takes several times longer. With more, it still waits for DynamoDB.
    MemorySize: 512,
    Timeout: 10,
    Role: `${onlyIdOf(template, 'AWS::IAM::Role', 'CreatePlant')}.Arn`,
    // No log level is set: a level above INFO would drop the lines that metrics count.
    LoggingConfig: { LogFormat: 'JSON', LogGroup: logGroup },
    Environment: {
      Variables: {
        PLANTS_TABLE_NAME: 'PlantsTable',
        ACCESS_TOKENS_TABLE_NAME: 'AccessTokensTable',
        AWS_ENDPOINT_URL_DYNAMODB: 'https://dynamodb.AWS::Region.AWS::URLSuffix',
      },
    },
  });
});

test('the function’s log is kept for one month', () => {
  expect(propertiesOf(template, 'AWS::Logs::LogGroup')[logGroup]).toEqual({ RetentionInDays: 30 });
});

test('the function gets the settings as variables', () => {
  const stack = templateWith({ ...EVERYTHING, allowOrigins: ['https://a.example', 'https://b.example'] });
  const { Variables } = onlyOf(stack, 'AWS::Lambda::Function', 'CreatePlant').Environment;
  expect(Variables).toEqual({
    ...onlyOf(template, 'AWS::Lambda::Function', 'CreatePlant').Environment.Variables,
    ALLOW_ORIGINS: 'https://a.example,https://b.example',
    TOKEN_ISSUER: 'https://id.example.com',
    TOKEN_AUDIENCE: 'plants,gardens',
    TOKEN_SCOPE: 'write',
  });
});
