import { expect, test } from 'vitest';
import { EVERYTHING, onlyOf, propertiesOf, templateWith, textOf } from '../test/support/stack.ts';

const template = templateWith();
const createPlant = onlyOf(template, 'AWS::Lambda::Function');

test('the function runs on Node.js 24 and arm64', () => {
  expect(createPlant).toMatchObject({
    Description: 'POST /plants',
    Runtime: 'nodejs24.x',
    Architectures: ['arm64'],
    // With less memory, a cold start takes several times longer. With more, it still waits for DynamoDB.
    MemorySize: 512,
    Timeout: 10,
  });
});

test('it has a JSON log of its own, which is kept for one month', () => {
  // No log level is set: a level above INFO would drop the lines that metrics count.
  expect(createPlant.LoggingConfig).toEqual({ LogFormat: 'JSON', LogGroup: { Ref: expect.any(String) } });
  const logGroup = propertiesOf(template, 'AWS::Logs::LogGroup')[createPlant.LoggingConfig.LogGroup.Ref];
  expect(logGroup).toEqual({ RetentionInDays: 30 });
});

test('without settings, its variables are the tables and the DynamoDB of its region, in each partition', () => {
  const { AWS_ENDPOINT_URL_DYNAMODB: endpoint, ...others } = createPlant.Environment.Variables;
  expect(textOf(endpoint)).toBe('https://dynamodb.AWS::Region.AWS::URLSuffix');
  expect(others).toEqual({
    PLANTS_TABLE_NAME: { Ref: 'PlantsTable' },
    ACCESS_TOKENS_TABLE_NAME: { Ref: 'AccessTokensTable' },
  });
});

test('it gets the settings as variables', () => {
  const stack = templateWith({ ...EVERYTHING, allowOrigins: ['https://a.example', 'https://b.example'] });
  expect(onlyOf(stack, 'AWS::Lambda::Function').Environment.Variables).toMatchObject({
    ALLOW_ORIGINS: 'https://a.example,https://b.example',
    TOKEN_ISSUER: 'https://id.example.com',
    TOKEN_AUDIENCE: 'plants,gardens',
    TOKEN_SCOPE: 'write',
  });
});
