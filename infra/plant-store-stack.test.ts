import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { App } from 'aws-cdk-lib';
import { Match, type Matcher, Template } from 'aws-cdk-lib/assertions';
import { expect, inject, test } from 'vitest';
import { readContext } from './context.ts';
import { PlantStoreStack } from './plant-store-stack.ts';

const assembly = inject('assembly');
const template = Template.fromJSON(JSON.parse(readFileSync(join(assembly, 'PlantStore.template.json'), 'utf8')));

const WEB_ACL_ARN =
  'arn:aws:wafv2:us-east-1:123456789012:regional/webacl/per-address/2d9c1c3e-6e5b-4b5f-9a53-0c1f1f6f3c11';

/** The stack with such context keys, without the seconds that bundling takes. */
function templateWith(context: Record<string, unknown>): Template {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [], ...context } });
  return Template.fromStack(new PlantStoreStack(app, readContext(app)));
}

test('both tables are on demand, recoverable to a point in time, encrypted and protected', () => {
  template.resourceCountIs('AWS::DynamoDB::Table', 2);
  template.allResourcesProperties('AWS::DynamoDB::Table', {
    BillingMode: 'PAY_PER_REQUEST',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    SSESpecification: { SSEEnabled: true },
    DeletionProtectionEnabled: true,
  });
  template.allResources('AWS::DynamoDB::Table', { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
});

test('a plant’s key is its id, a number; a token’s is its digest, with a TTL on its expiry', () => {
  template.hasResourceProperties('AWS::DynamoDB::Table', {
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
    TimeToLiveSpecification: Match.absent(),
  });
  template.hasResourceProperties('AWS::DynamoDB::Table', {
    KeySchema: [{ AttributeName: 'digest', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'digest', AttributeType: 'S' }],
    TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
  });
});

test('the tables keep their logical ids and key schemas, so that no update can replace them', () => {
  const tables = Object.entries(template.findResources('AWS::DynamoDB::Table'));
  expect(Object.fromEntries(tables.map(([id, { Properties }]) => [id, Properties.KeySchema]))).toEqual({
    DataPlants8CBE6BEF: [{ AttributeName: 'id', KeyType: 'HASH' }],
    DataAccessTokens854BD336: [{ AttributeName: 'digest', KeyType: 'HASH' }],
  });
  for (const [id, { Properties }] of tables) {
    // Each of these is replaced with its table.
    expect(Object.keys(Properties), id).not.toContain('TableName');
    expect(Object.keys(Properties), id).not.toContain('LocalSecondaryIndexes');
  }
});

test('the function is on Node.js 24 and arm64, traced, with JSON logs kept for a month in a group of its own', () => {
  template.resourceCountIs('AWS::Lambda::Function', 1);
  template.hasResourceProperties('AWS::Lambda::Function', {
    Runtime: 'nodejs24.x',
    Architectures: ['arm64'],
    Timeout: 10,
    TracingConfig: { Mode: 'Active' },
    LoggingConfig: { LogFormat: 'JSON', LogGroup: { Ref: 'CreatePlantLogs2D474390' } },
  });
  template.hasResource('AWS::Logs::LogGroup', { Properties: { RetentionInDays: 30 }, DeletionPolicy: 'Retain' });
});

test('the function may put plants, get tokens, write its own logs and traces, and nothing else', () => {
  const roles = template.findResources('AWS::IAM::Role');
  const ofFunction = Object.entries(roles).filter(([, role]) => principalOf(role) === 'lambda.amazonaws.com');
  expect(ofFunction).toHaveLength(1);
  expect(ofFunction[0]?.[1]['Properties']).not.toHaveProperty('ManagedPolicyArns');
  expect(ofFunction[0]?.[1]['Properties']).not.toHaveProperty('Policies');
  const [policy, ...otherPolicies] = Object.values(template.findResources('AWS::IAM::Policy'));
  expect(otherPolicies).toEqual([]);
  expect(policy?.['Properties'].Roles).toEqual([{ Ref: ofFunction[0]?.[0] }]);
  const byAction = (a: { Action: string }, b: { Action: string }) => String(a.Action).localeCompare(String(b.Action));
  expect(policy?.['Properties'].PolicyDocument.Statement.toSorted(byAction)).toEqual([
    { Effect: 'Allow', Action: 'dynamodb:GetItem', Resource: { 'Fn::GetAtt': ['DataAccessTokens854BD336', 'Arn'] } },
    { Effect: 'Allow', Action: 'dynamodb:PutItem', Resource: { 'Fn::GetAtt': ['DataPlants8CBE6BEF', 'Arn'] } },
    {
      Effect: 'Allow',
      Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      Resource: { 'Fn::GetAtt': ['CreatePlantLogs2D474390', 'Arn'] },
    },
    // X-Ray knows no resources.
    { Effect: 'Allow', Action: ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], Resource: '*' },
  ]);
});

test('the only other role is CodeDeploy’s, with AWS’s policy for it', () => {
  const others = Object.values(template.findResources('AWS::IAM::Role')).filter(
    (role) => principalOf(role) !== 'lambda.amazonaws.com',
  );
  expect(others.map(principalOf)).toEqual(['codedeploy.amazonaws.com']);
  expect(JSON.stringify(others[0]?.['Properties'].ManagedPolicyArns)).toContain('AWSCodeDeployRoleForLambdaLimited');
});

test('the API is regional, has the one route, and leaves the account’s CloudWatch role alone', () => {
  template.hasResourceProperties('AWS::ApiGateway::RestApi', {
    EndpointConfiguration: { Types: ['REGIONAL'] },
    BinaryMediaTypes: ['*/*'],
  });
  const toFunctions = Object.values(template.findResources('AWS::ApiGateway::Method')).filter(
    ({ Properties }) => Properties.Integration.Type === 'AWS_PROXY',
  );
  expect(toFunctions.map(({ Properties }) => Properties.HttpMethod)).toEqual(['POST']);
  template.resourceCountIs('AWS::ApiGateway::Account', 0);
  template.resourceCountIs('AWS::ApiGateway::GatewayResponse', 21);
});

test('the outputs are the base URL, both tables and the function', () => {
  expect(Object.keys(template.findOutputs('*')).toSorted()).toEqual([
    'AccessTokensTableName',
    'ApiUrl',
    'FunctionName',
    'PlantsTableName',
  ]);
});

test('nothing of a throw-away stack is left behind or protected', () => {
  const throwaway = templateWith({ throwaway: true });
  throwaway.allResourcesProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
  for (const [id, resource] of Object.entries(throwaway.toJSON()['Resources'])) {
    expect(resource, id).not.toMatchObject({ DeletionPolicy: 'Retain' });
    expect(resource, id).not.toMatchObject({ UpdateReplacePolicy: 'Retain' });
  }
});

test.each([
  [{}, 'PlantStore'],
  [{ stage: 'dev' }, 'PlantStore-dev'],
  [{ throwaway: true }, 'PlantStoreThrowaway'],
  [{ throwaway: true, stage: 'dev' }, 'PlantStoreThrowaway-dev'],
])('with %j the stack is called %s, so that stages stand side by side', (context, name) => {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [], ...context } });
  const stack = new PlantStoreStack(app, readContext(app));
  expect(stack.stackName).toBe(name);
  // Of the names that an account has once for all regions, the dashboard's is the only one here.
  const [dashboard, ...others] = Object.values(Template.fromStack(stack).findResources('AWS::CloudWatch::Dashboard'));
  expect(others).toEqual([]);
  expect(dashboard?.['Properties'].DashboardName).toEqual({ 'Fn::Join': ['', [`${name}-`, { Ref: 'AWS::Region' }]] });
});

test('tables, functions, roles, logs, alarms and topics are named by CloudFormation, so that two stages never meet', () => {
  for (const [id, { Properties }] of Object.entries(template.toJSON()['Resources'] as Record<string, CfnResource>)) {
    for (const name of ['TableName', 'RoleName', 'LogGroupName', 'AlarmName', 'TopicName']) {
      expect(typeof Properties?.[name], `${name} of ${id}`).not.toBe('string');
    }
  }
  template.hasResourceProperties('AWS::Lambda::Function', { FunctionName: Match.absent() });
});

test('requests reach the alias, which CodeDeploy moves by a canary and takes back on alarms', () => {
  template.hasResource('AWS::Lambda::Alias', {
    Properties: { Name: 'live' },
    UpdatePolicy: { CodeDeployLambdaAliasUpdate: Match.anyValue() },
  });
  template.hasResourceProperties('AWS::CodeDeploy::DeploymentGroup', {
    DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
    AlarmConfiguration: {
      Enabled: true,
      Alarms: [{ Name: { Ref: alarmLike('Faults') } }, { Name: { Ref: alarmLike('FunctionErrors') } }],
    },
    AutoRollbackConfiguration: { Enabled: true, Events: Match.arrayWith(['DEPLOYMENT_STOP_ON_ALARM']) },
  });
  const [alias] = Object.keys(template.findResources('AWS::Lambda::Alias'));
  const [post] = Object.values(
    template.findResources('AWS::ApiGateway::Method', { Properties: { HttpMethod: 'POST' } }),
  );
  expect(JSON.stringify(post?.['Properties'].Integration.Uri)).toContain(`{"Ref":"${alias}"}`);
  template.hasResource('AWS::Lambda::Version', { DeletionPolicy: 'Retain' });
});

test('a throw-away stack moves all at once', () => {
  templateWith({ throwaway: true }).hasResourceProperties('AWS::CodeDeploy::DeploymentGroup', {
    DeploymentConfigName: 'CodeDeployDefault.LambdaAllAtOnce',
  });
});

test('for an emulator only the store itself is left', () => {
  const { Resources } = templateWith({ emulator: true }).toJSON() as { Resources: Record<string, { Type: string }> };
  expect([...new Set(Object.values(Resources).map(({ Type }) => Type))].toSorted()).toEqual([
    'AWS::ApiGateway::Deployment',
    'AWS::ApiGateway::GatewayResponse',
    'AWS::ApiGateway::Method',
    'AWS::ApiGateway::Resource',
    'AWS::ApiGateway::RestApi',
    'AWS::ApiGateway::Stage',
    'AWS::DynamoDB::Table',
    'AWS::IAM::Policy',
    'AWS::IAM::Role',
    'AWS::Lambda::Function',
    'AWS::Lambda::Permission',
    'AWS::Logs::LogGroup',
  ]);
});

test('TLS is 1.2 or newer, each method is throttled, and the access log holds no header', () => {
  template.hasResourceProperties('AWS::ApiGateway::RestApi', {
    SecurityPolicy: Match.stringLikeRegexp('^SecurityPolicy_TLS13_1_2_'),
  });
  const [stage] = Object.values(template.findResources('AWS::ApiGateway::Stage'));
  expect(stage?.['Properties'].MethodSettings).toMatchObject([
    { HttpMethod: '*', ResourcePath: '/*', ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
  ]);
  const line = JSON.parse(stage?.['Properties'].AccessLogSetting.Format);
  expect(line).toMatchObject({
    extendedRequestId: '$context.extendedRequestId',
    sourceIp: '$context.identity.sourceIp',
    resource: '$context.resourcePath',
  });
  // A caller could choose it.
  expect(JSON.stringify(line)).not.toContain('$context.requestId');
  expect(JSON.stringify(line)).not.toMatch(/header|authoriz/i);
  templateWith({ requestsPerSecond: 2500 }).hasResourceProperties('AWS::ApiGateway::Stage', {
    MethodSettings: [Match.objectLike({ ThrottlingRateLimit: 2500, ThrottlingBurstLimit: 5000 })],
  });
});

test('the account’s CloudWatch role is made only when asked for, and outlives a throw-away stack', () => {
  const asked = templateWith({ throwaway: true, cloudWatchRole: true });
  asked.hasResource('AWS::ApiGateway::Account', { DeletionPolicy: 'Retain' });
});

test('a domain of the user’s own has TLS 1.2 or newer, a certificate, a record, and is the base URL', () => {
  const own = templateWith({ domainName: 'plants.example.com', hostedZoneId: 'Z0123456789ABC' });
  own.hasResourceProperties('AWS::ApiGateway::DomainName', {
    DomainName: 'plants.example.com',
    SecurityPolicy: Match.stringLikeRegexp('^SecurityPolicy_TLS13_1_2_'),
  });
  own.hasResourceProperties('AWS::CertificateManager::Certificate', {
    DomainValidationOptions: [{ DomainName: 'plants.example.com', HostedZoneId: 'Z0123456789ABC' }],
  });
  own.hasResourceProperties('AWS::Route53::RecordSet', { Name: 'plants.example.com.', HostedZoneId: 'Z0123456789ABC' });
  own.hasOutput('ApiUrl', { Value: 'https://plants.example.com' });
});

test('the stage is put behind a web ACL only where one is named', () => {
  template.resourceCountIs('AWS::WAFv2::WebACLAssociation', 0);
  templateWith({ webAclArn: WEB_ACL_ARN }).hasResourceProperties('AWS::WAFv2::WebACLAssociation', {
    WebACLArn: WEB_ACL_ARN,
    ResourceArn: { 'Fn::Join': ['', Match.arrayWith(['::/restapis/', { Ref: Match.stringLikeRegexp('Stage') }])] },
  });
});

test('every path and method without an operation has a method of its own, which no body makes fail', () => {
  const mocks = Object.values(
    templateWith({ allowOrigins: 'https://a.example' }).findResources('AWS::ApiGateway::Method'),
  ).filter(({ Properties }) => Properties.Integration.Type === 'MOCK');
  expect(mocks.map(({ Properties }) => Properties.HttpMethod).toSorted()).toEqual(['ANY', 'ANY', 'ANY', 'OPTIONS']);
  for (const { Properties } of mocks) {
    expect(Properties.Integration).toMatchObject({
      ContentHandling: 'CONVERT_TO_TEXT',
      PassthroughBehavior: 'NEVER',
      IntegrationResponses: [{ ContentHandling: 'CONVERT_TO_TEXT' }],
    });
  }
  template.hasResourceProperties('AWS::ApiGateway::Resource', { PathPart: '{proxy+}' });
});

test.each([
  ['UNAUTHORIZED', 'WWW-Authenticate', 'Bearer realm="plant-store"'],
  ['THROTTLED', 'Retry-After', '1'],
])('the gateway’s own %s carries %s', (ResponseType, header, value) => {
  template.hasResourceProperties('AWS::ApiGateway::GatewayResponse', {
    ResponseType,
    ResponseParameters: { [`gatewayresponse.header.${header}`]: `'${value}'` },
  });
});

test('without origins there is no preflight and no header that lets a page in', () => {
  expect(JSON.stringify(template.toJSON())).not.toMatch(/Access-Control|ALLOW_ORIGINS/);
});

test.each([
  ['https://a.example', 'https://a.example'],
  ['https://a.example,https://b.example', '*'],
  ['*', '*'],
])('with the origins %s the gateway’s own answers allow %s', (allowOrigins, allowed) => {
  const open = templateWith({ allowOrigins });
  open.hasResourceProperties('AWS::ApiGateway::Method', { HttpMethod: 'OPTIONS', Integration: { Type: 'MOCK' } });
  open.allResourcesProperties('AWS::ApiGateway::GatewayResponse', {
    ResponseParameters: Match.objectLike({ 'gatewayresponse.header.Access-Control-Allow-Origin': `'${allowed}'` }),
  });
  open.hasResourceProperties('AWS::ApiGateway::Method', {
    HttpMethod: 'ANY',
    Integration: {
      IntegrationResponses: [
        Match.objectLike({
          ResponseParameters: Match.objectLike({
            'method.response.header.Access-Control-Allow-Origin': `'${allowed}'`,
          }),
        }),
      ],
    },
  });
  open.hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: Match.objectLike({ ALLOW_ORIGINS: allowOrigins }) },
  });
});

test.each([
  ['throwaway', undefined, false],
  ['throwaway', 'true', true],
  ['throwaway', true, true],
  ['throwaway', 'false', false],
  ['stage', undefined, undefined],
  ['stage', 'dev-2', 'dev-2'],
  ['alarmEmail', 'ops@example.com', 'ops@example.com'],
  ['allowOrigins', undefined, []],
  ['allowOrigins', '*', ['*']],
  ['allowOrigins', 'https://a.example,http://localhost:5173', ['https://a.example', 'http://localhost:5173']],
  ['requestsPerSecond', undefined, 100],
  ['requestsPerSecond', '5', 5],
  ['requestsPerSecond', 5, 5],
  ['webAclArn', undefined, undefined],
  ['webAclArn', WEB_ACL_ARN, WEB_ACL_ARN],
  ['cloudWatchRole', undefined, false],
  ['emulator', undefined, false],
] as const)('the context key %s as %j means %j', (key, value, meaning) => {
  expect(readContext(new App({ context: { [key]: value } }))[key]).toEqual(meaning);
});

test.each([
  ['throwaway', 'yes', 'true or false'],
  ['stage', '', 'up to 31 letters'],
  ['stage', 'a b', 'up to 31 letters'],
  ['stage', '1', 'a letter first'],
  ['alarmEmail', 'ops', 'an e-mail address'],
  ['allowOrigins', 'app.example.com', 'origins as in'],
  ['allowOrigins', 'https://app.example.com/', 'origins as in'],
  ['allowOrigins', '*,https://a.example', 'origins as in'],
  ['allowOrigins', 'https://a.example, https://b.example', 'origins as in'],
  ['requestsPerSecond', '0', 'a number from 1'],
  ['requestsPerSecond', '1.5', 'a number from 1'],
  ['webAclArn', 'rate-limit', 'the ARN of a regional web ACL'],
  ['webAclArn', WEB_ACL_ARN.replace('regional', 'global'), 'the ARN of a regional web ACL'],
  ['domainName', 'https://plants.example.com', 'a host name'],
  ['hostedZoneId', 'plants.example.com', 'the id of a Route 53 hosted zone'],
])('the context key %s as %j is refused with a sentence', (key, value, kind) => {
  const read = () => readContext(new App({ context: { [key]: value } }));
  expect(read).toThrow(`The context key "${key}" was ${JSON.stringify(value)}; it must be `);
  expect(read).toThrow(kind);
});

test.each(['domainName', 'hostedZoneId'])('of the domain’s two keys, %s alone is refused', (key) => {
  const value = key === 'domainName' ? 'plants.example.com' : 'Z0123456789ABC';
  expect(() => readContext(new App({ context: { [key]: value } }))).toThrow(/must be both or none/);
});

test('the README lists every context key', () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const { domain: _, ...context } = readContext(new App());
  for (const key of [...Object.keys(context), 'domainName', 'hostedZoneId']) expect(readme).toContain(`-c ${key}=`);
});

test('a synthesis that is refused ends with a sentence', async () => {
  const app = promisify(execFile)(process.execPath, ['infra/app.ts'], {
    env: { ...process.env, CDK_CONTEXT_JSON: '{"throwaway":"yes"}' },
  });
  const stderr = 'The context key "throwaway" was "yes"; it must be true or false.\n';
  await expect(app).rejects.toMatchObject({ code: 1, stderr });
});

const EVERY_KEY = {
  stage: 'full',
  throwaway: true,
  alarmEmail: 'ops@example.com',
  domainName: 'plants.example.com',
  hostedZoneId: 'Z0123456789ABC',
  allowOrigins: 'https://a.example',
  webAclArn: WEB_ACL_ARN,
  cloudWatchRole: true,
};
test.each([
  ['by default', {}],
  ['with every context key set', EVERY_KEY],
  ['for an emulator', { emulator: true }],
])('%s, cdk-nag’s AwsSolutions and CDK’s own rules find nothing unacknowledged', async (_, keys) => {
  const outdir = await mkdtemp(join(tmpdir(), 'plant-store-nag-'));
  const context = { 'aws:cdk:bundling-stacks': [], ...keys };
  await promisify(execFile)(process.execPath, ['infra/app.ts'], {
    env: { ...process.env, CDK_VALIDATION: 'true', CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(context) },
  });
  expect(JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8')).pluginReports).toEqual([]);
  await rm(outdir, { recursive: true });
});

interface CfnResource {
  Type: string;
  Properties?: Record<string, unknown>;
}

function principalOf(role: { [key: string]: unknown }): string {
  const { AssumeRolePolicyDocument } = role['Properties'] as {
    AssumeRolePolicyDocument: { Statement: { Principal: { Service: string } }[] };
  };
  return AssumeRolePolicyDocument.Statement[0]?.Principal.Service ?? '';
}

function alarmLike(id: string): Matcher {
  return Match.stringLikeRegexp(`^MonitoringAlarms${id}`);
}
