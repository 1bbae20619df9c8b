import { Match, type Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import {
  apiDefinitionOf,
  onlyOf,
  propertiesOf,
  releaseOf,
  templateWith,
  textOf,
  twoOperations,
  WEB_ACL_ARN,
  waterPlant,
} from '../../test/support/stack.ts';

const template = templateWith({});

test('the API is regional, takes every body as bytes, and does not make the account’s CloudWatch role', () => {
  expect(onlyOf(template, 'AWS::ApiGateway::RestApi')).toMatchObject({
    EndpointConfiguration: { Types: ['REGIONAL'] },
    Parameters: { endpointConfigurationTypes: 'REGIONAL' },
    Mode: 'overwrite',
  });
  expect(apiDefinitionOf(template)['x-amazon-apigateway-binary-media-types']).toEqual(['*/*']);
  template.resourceCountIs('AWS::ApiGateway::Account', 0);
});

test('TLS is 1.2 or newer with forward secrecy, also after an import that overwrites the API', () => {
  const policy = 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09';
  template.hasResourceProperties('AWS::ApiGateway::RestApi', { SecurityPolicy: policy, EndpointAccessMode: 'BASIC' });
  expect(apiDefinitionOf(template)).toMatchObject({
    'x-amazon-apigateway-security-policy': policy,
    'x-amazon-apigateway-endpoint-access-mode': 'BASIC',
  });
});

test('the stage v1 is traced and throttles each method, with a burst of the requests of two seconds', () => {
  const stage = onlyOf(templateWith({ requestsPerSecond: 2500 }), 'AWS::ApiGateway::Stage');
  expect(stage).toMatchObject({ StageName: 'v1', TracingEnabled: true });
  // Without a LoggingLevel: execution logs would hold the Authorization header.
  const limits = { ThrottlingRateLimit: 2500, ThrottlingBurstLimit: 5000 };
  expect(stage.MethodSettings).toEqual([{ HttpMethod: '*', ResourcePath: '/*', DataTraceEnabled: false, ...limits }]);
});

test('the access log is kept for a month, without headers or an id that the client can choose', () => {
  const { DestinationArn, Format } = onlyOf(template, 'AWS::ApiGateway::Stage').AccessLogSetting;
  const [logGroup = ''] = /ApiAccessLog\w+/.exec(textOf(DestinationArn)) ?? [];
  expect(propertiesOf(template, 'AWS::Logs::LogGroup')[logGroup]).toMatchObject({ RetentionInDays: 30 });
  expect(JSON.parse(Format)).toEqual({
    extendedRequestId: '$context.extendedRequestId',
    traceId: '$context.xrayTraceId',
    time: '$context.requestTime',
    sourceIp: '$context.identity.sourceIp',
    method: '$context.httpMethod',
    resource: '$context.resourcePath',
    status: '$context.status',
    gatewayResponse: '$context.error.responseType',
    integrationStatus: '$context.integrationStatus',
    responseLatencyMs: '$context.responseLatency',
    integrationLatencyMs: '$context.integrationLatency',
    responseBytes: '$context.responseLength',
  });
});

test.each([
  ['an operation', templateWith({}), templateWith({}, [waterPlant])],
  ['the CORS setting', templateWith({ allowOrigins: 'https://a.example' }), template],
])('the removal of %s makes a new deployment of the API, which is one resource', (_what, before, after) => {
  const deploymentsOf = (stack: Template) => Object.keys(propertiesOf(stack, 'AWS::ApiGateway::Deployment'));
  expect(deploymentsOf(before)).toHaveLength(1);
  expect(deploymentsOf(after)).not.toEqual(deploymentsOf(before));
  const types = Object.values(before.toJSON()['Resources'] as Record<string, { Type: string }>).map(({ Type }) => Type);
  expect(types.filter((type) => type.startsWith('AWS::ApiGateway::')).toSorted()).toEqual(
    ['Deployment', 'RestApi', 'Stage'].map((type) => `AWS::ApiGateway::${type}`),
  );
});

test.each(twoOperations)('the gateway can invoke $operationId only on its own route of the stage', (operation) => {
  const permissions = Object.values(propertiesOf(template, 'AWS::Lambda::Permission'));
  const { aliasId } = releaseOf(template, operation);
  const [api = ''] = Object.keys(propertiesOf(template, 'AWS::ApiGateway::RestApi'));
  const own = permissions.filter(({ FunctionName }) => FunctionName.Ref === aliasId);
  const route = `${operation.method}${operation.path.replaceAll(/\{\w+\}/g, '*')}`;
  expect(own).toHaveLength(1);
  expect(own[0]).toMatchObject({ Action: 'lambda:InvokeFunction', Principal: 'apigateway.amazonaws.com' });
  expect(textOf(own[0]?.SourceArn).split(':').at(-1)).toBe(`${api}/v1/${route}`);
});

test('the account’s CloudWatch role is kept when an ephemeral stack that made it is deleted', () => {
  const stack = templateWith({ throwaway: true, cloudWatchRole: true });
  stack.hasResource('AWS::ApiGateway::Account', { DeletionPolicy: 'Retain' });
});

test('a web ACL protects the stage if webAclArn names one, and stays attached when it replaces another', () => {
  template.resourceCountIs('AWS::WAFv2::WebACLAssociation', 0);
  templateWith({ webAclArn: WEB_ACL_ARN }).hasResource('AWS::WAFv2::WebACLAssociation', {
    Properties: {
      WebACLArn: WEB_ACL_ARN,
      ResourceArn: { 'Fn::Join': ['', Match.arrayWith(['::/restapis/', { Ref: Match.stringLikeRegexp('Stage') }])] },
    },
    UpdateReplacePolicy: 'Retain',
    DeletionPolicy: 'Delete',
  });
});
