import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { FUNCTION_TIMEOUT_MS } from '../functions/time-limits.ts';
import { context, EVERYTHING, stackWith, templateWith } from '../test/support/stack.ts';
import type { Settings } from './settings.ts';
import { stages } from './stages.ts';

const production = templateWith();
const everything = templateWith(EVERYTHING);

const folder = join(import.meta.dirname, '__snapshots__');
// With an account and a region, their values would replace `${AWS::AccountId}` and `${AWS::Region}` everywhere.
const { account: _account, region: _region, ...everySetting } = EVERYTHING;
const snapshots: [name: string, settings: Settings][] = [
  ['production', {}],
  ['every-setting', everySetting],
  ['ephemeral', { ephemeral: true }],
];

/** A template for people. JSON in texts is unfolded. Digests, which change with the code, are `HASH`. */
function readable(settings: Settings): Record<string, unknown> {
  const text = JSON.stringify(templateWith(settings)).replaceAll(/([0-9a-f]{32}){1,2}\b/g, 'HASH');
  const unfolded = JSON.parse(text, (_key, value) => (/^{"/.test(value) ? JSON.parse(value) : value));
  const { Resources, Parameters: _parameters, Rules: _rules, ...others } = unfolded;
  // At the top level, so that git names the resource in the header of each hunk.
  return { ...Resources, ...others };
}

/** Returns what differs in `after`. A member that only `before` has is null. */
function difference(before: unknown, after: unknown): unknown {
  if (isDeepStrictEqual(before, after)) return undefined;
  const [old, current] = [Object(before), Object(after)];
  // Lists of different lengths are shown completely, because all items after a new one would differ.
  if (before !== old || after !== current || old.length !== current.length) return after ?? null;
  const names = Object.keys({ ...old, ...current });
  return Object.fromEntries(names.map((name) => [name, difference(old[name], current[name])]));
}

const TITLE = 'the template of %s is that in infra/__snapshots__; to accept a change, run: npx vitest run infra -u';
test.each(snapshots)(TITLE, async (name, settings) => {
  const template = readable(settings);
  const shown = name === 'production' ? template : difference(readable({}), template);
  const yaml = stringify(shown, { sortMapEntries: true, lineWidth: 0 });
  await expect(yaml).toMatchFileSnapshot(join(folder, `${name}.yaml`));
});

test('the stack outputs what commands, workflows and documents read', () => {
  expect(production.Outputs).toEqual({
    ApiUrl: { Value: expect.stringMatching(/^https:\/\/.*\/api$/) },
    PlantsTableName: { Value: `\${PlantsTable}` },
    AccessTokensTableName: { Value: `\${AccessTokensTable}` },
    AlarmTopicArn: { Value: production.refTo('AWS::SNS::Topic') },
  });
});

test('each role can be assumed only by its service, and has only the managed policy for it', () => {
  const roles = everything.allPropertiesOf('AWS::IAM::Role').map(({ AssumeRolePolicyDocument, ...policies }) => {
    const [{ Principal, ...statement }, ...others] = AssumeRolePolicyDocument.Statement;
    expect([statement, others]).toEqual([{ Effect: 'Allow', Action: 'sts:AssumeRole' }, []]);
    return { ...Principal, ...policies };
  });
  const managed = (policy: string) => [`arn:\${AWS::Partition}:iam::aws:policy/service-role/${policy}`];
  expect(new Set(roles)).toEqual(
    new Set([
      { Service: 'lambda.amazonaws.com' },
      { Service: 'codedeploy.amazonaws.com', ManagedPolicyArns: managed('AWSCodeDeployRoleForLambdaLimited') },
      { Service: 'apigateway.amazonaws.com', ManagedPolicyArns: managed('AmazonAPIGatewayPushToCloudWatchLogs') },
    ]),
  );
});

test('the function runs on the Node.js of .nvmrc, has its time, and reads each setting that concerns it', () => {
  const { Runtime, Timeout, Environment } = everything.propertiesOf('AWS::Lambda::Function');
  // With less time, the reserve for the response would leave the database none.
  expect(Timeout).toBe(FUNCTION_TIMEOUT_MS / 1000);
  expect(Runtime).toBe(`nodejs${Number.parseInt(readFileSync('.nvmrc', 'utf8'), 10)}.x`);
  // Without TOKEN_SCOPE, it would accept each token of the audience.
  expect(Environment.Variables).toEqual({
    PLANTS_TABLE_NAME: everything.refTo('AWS::DynamoDB::Table', 'PlantsTable'),
    ACCESS_TOKENS_TABLE_NAME: everything.refTo('AWS::DynamoDB::Table', 'AccessTokensTable'),
    AWS_ENDPOINT_URL_DYNAMODB: `https://dynamodb.eu-west-1.\${AWS::URLSuffix}`,
    ALLOW_ORIGINS: 'https://a.example,https://b.example',
    TOKEN_ISSUER: 'https://id.example.com',
    TOKEN_AUDIENCE: 'plants,gardens',
    TOKEN_SCOPE: 'write',
  });
});

test('the API and its domain accept only TLS 1.2 or newer with forward secrecy', () => {
  for (const type of ['RestApi', 'DomainName']) {
    const { SecurityPolicy, EndpointAccessMode } = everything.propertiesOf(`AWS::ApiGateway::${type}`);
    expect([SecurityPolicy, EndpointAccessMode]).toEqual(['SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09', 'BASIC']);
  }
});

// CloudFormation makes a new, empty table if a logical id, a name or a key schema changes. If one must change, add the
// new table beside the old one, copy the plants, and remove the old one in a later deployment.
test.each([
  ['PlantsTable', 'id', 'N', { OnDemandThroughput: { MaxWriteRequestUnits: expect.any(Number) } }],
  ['AccessTokensTable', 'digest', 'S', { TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true } }],
])('no deployment replaces or loses %s, which is encrypted and can be restored', (id, AttributeName, type, others) => {
  for (const template of [production, everything]) {
    expect(template.Resources[id]?.['Properties']).toEqual({
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName, KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName, AttributeType: type }],
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      SSESpecification: { SSEEnabled: true },
      DeletionProtectionEnabled: true,
      ...others,
    });
  }
});

test.each([
  [1, 1000],
  [500, 10_000],
  [10_000, 39_999],
])('with %s requests per second, the table of plants accepts %i write units per second', (requestsPerSecond, units) => {
  const table = templateWith({ requestsPerSecond }).propertiesOf('AWS::DynamoDB::Table', 'PlantsTable');
  expect(table.OnDemandThroughput).toEqual({ MaxWriteRequestUnits: units });
});

test('deleting the stack keeps tables, logs, versions, the key, and the account’s role for logs', () => {
  const policies = Object.values(everything.Resources).map(({ Type, DeletionPolicy, UpdateReplacePolicy }) =>
    [Type, DeletionPolicy, UpdateReplacePolicy].join(' '),
  );
  // A failed creation does not keep what is RetainExceptOnCreate.
  expect(policies.filter((policy) => !policy.endsWith('  ')).sort()).toEqual([
    'AWS::ApiGateway::Account Retain Retain',
    'AWS::DynamoDB::Table Retain Retain',
    'AWS::DynamoDB::Table Retain Retain',
    'AWS::IAM::Role Retain Retain',
    'AWS::KMS::Key RetainExceptOnCreate Retain',
    'AWS::Lambda::Version RetainExceptOnCreate Retain',
    'AWS::Logs::LogGroup RetainExceptOnCreate Retain',
    'AWS::Logs::LogGroup RetainExceptOnCreate Retain',
  ]);
});

test('an ephemeral stack is deleted completely, and does not touch the account’s role for logs', () => {
  const { Resources } = templateWith({ ephemeral: true, cloudWatchRole: true });
  const kept = /Policy":"Retain|"DeletionProtectionEnabled":true|AWS::ApiGateway::Account|AccessLogSetting/g;
  expect(JSON.stringify(Resources).match(kept)).toBeNull();
});

test('CloudFormation tags all resources of the stack with the service and the stage', () => {
  expect(stackWith({ stage: 'dev' }).tags.tagValues()).toEqual({ service: 'PlantStore', stage: 'dev' });
});

test.each([
  [String(context['stage']), 'PlantStore-dev', false],
  ['production', 'PlantStore-production', true],
])('the stage %s of infra/stages.ts has the stack %s, with termination protection: %s', (stage, name, isProtected) => {
  const { stackName, terminationProtection } = stackWith({ stage, ...stages[stage] });
  expect([stackName, terminationProtection]).toEqual([name, isProtected]);
});

test('no name, and no text with the name of the stack, is the same in two stages', () => {
  const dev = templateWith({ stage: 'dev' });
  expect(JSON.stringify(dev).match(/.{0,30}PlantStore(?!-?dev).{0,30}/g)).toBeNull();
  const properties = Object.values(dev.Resources).flatMap(({ Properties = {} }) => Object.entries(Properties));
  const names = properties.filter(([key]) => /^(?!DeploymentConfig|Metric|Policy|Stage).*Name$/.test(key));
  // The alias is a part of a function.
  const isShared = (name: unknown) => name !== 'live' && !/PlantStore-dev|^\${[\w.]+}$/.test(String(name));
  expect(names.filter(([, name]) => isShared(name))).toEqual([]);
});
