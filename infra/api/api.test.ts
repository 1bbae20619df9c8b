import { Match, type Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import {
  apiDefinitionOf,
  defaultTemplate,
  methodsOf,
  releaseOf,
  templateWith,
  WEB_ACL_ARN,
  withWaterPlant,
} from '../../test/support/stack.ts';
import { grantedOperations } from '../operations.ts';

const template = defaultTemplate();

function only(stack: Template, type: string) {
  const [resource, ...others] = Object.values(stack.findResources(type));
  if (!resource || others.length > 0) throw new Error(`The stack has not one ${type}.`);
  return resource;
}

test.each([
  ['the contract', template, grantedOperations()],
  ['two operations', templateWith({}, withWaterPlant()), withWaterPlant()],
])('of %s each operation has its route, and no other reaches a function', (_what, stack, operations) => {
  const routes = methodsOf(stack).filter(({ integration }) => integration.type === 'aws_proxy');
  expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
    operations.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
});

test('the API is regional, takes every body as bytes, and leaves the account’s CloudWatch role alone', () => {
  template.hasResourceProperties('AWS::ApiGateway::RestApi', {
    EndpointConfiguration: { Types: ['REGIONAL'] },
    Parameters: { endpointConfigurationTypes: 'REGIONAL' },
  });
  expect(apiDefinitionOf(template)['x-amazon-apigateway-binary-media-types']).toEqual(['*/*']);
  template.resourceCountIs('AWS::ApiGateway::Account', 0);
});

test('TLS is 1.2 or newer with forward secrecy, on the policy that needs no other endpoint access mode', () => {
  const policy = 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09';
  template.hasResourceProperties('AWS::ApiGateway::RestApi', { SecurityPolicy: policy, EndpointAccessMode: 'BASIC' });
  expect(apiDefinitionOf(template)).toMatchObject({
    'x-amazon-apigateway-security-policy': policy,
    'x-amazon-apigateway-endpoint-access-mode': 'BASIC',
  });
});

test('the stage v1 is traced and throttles each method, with a burst of two seconds’ requests', () => {
  // The stage’s name is a part of the URL that callers have.
  const stage = only(templateWith({ requestsPerSecond: 2500 }), 'AWS::ApiGateway::Stage')['Properties'];
  expect(stage).toMatchObject({ StageName: 'v1', TracingEnabled: true });
  // Without a LoggingLevel: execution logs would hold the Authorization header.
  expect(stage.MethodSettings).toEqual([
    {
      HttpMethod: '*',
      ResourcePath: '/*',
      DataTraceEnabled: false,
      ThrottlingRateLimit: 2500,
      ThrottlingBurstLimit: 5000,
    },
  ]);
});

test('the access log is kept for a month, and holds neither a header nor an id that the caller could choose', () => {
  const { DestinationArn, Format } = only(template, 'AWS::ApiGateway::Stage')['Properties'].AccessLogSetting;
  expect(JSON.stringify(DestinationArn)).toContain('"ApiAccessLog713001CC"');
  expect(template.findResources('AWS::Logs::LogGroup')['ApiAccessLog713001CC']).toMatchObject({
    Properties: { RetentionInDays: 30 },
  });
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
  ['an operation', templateWith({}, withWaterPlant())],
  ['the CORS setting', templateWith({ allowOrigins: 'https://a.example' })],
])('one deployment removes %s: the API is one resource, whose change makes a new deployment', (_what, before) => {
  const deploymentsOf = (stack: Template) => Object.keys(stack.findResources('AWS::ApiGateway::Deployment'));
  expect(deploymentsOf(before)).toHaveLength(1);
  expect(deploymentsOf(template)).not.toEqual(deploymentsOf(before));
  expect(apiDefinitionOf(template)).not.toEqual(apiDefinitionOf(before));
  expect(only(template, 'AWS::ApiGateway::RestApi')['Properties'].Mode).toBe('overwrite');
  const types = Object.values(before.toJSON()['Resources'] as Record<string, { Type: string }>).map(({ Type }) => Type);
  expect(types.filter((type) => type.startsWith('AWS::ApiGateway::')).toSorted()).toEqual(
    ['Deployment', 'RestApi', 'Stage'].map((type) => `AWS::ApiGateway::${type}`),
  );
});

test('the gateway may invoke an operation on its own route of the stage, and on no other', () => {
  const operations = withWaterPlant();
  const stack = templateWith({}, operations);
  const sources = Object.values(stack.findResources('AWS::Lambda::Permission')).map(({ Properties }) => {
    expect(Properties).toMatchObject({ Action: 'lambda:InvokeFunction', Principal: 'apigateway.amazonaws.com' });
    return [Properties.FunctionName.Ref, ...Properties.SourceArn['Fn::Join'][1].slice(-2)];
  });
  const [api] = Object.keys(stack.findResources('AWS::ApiGateway::RestApi'));
  expect(sources).toEqual(
    operations.map((operation) => [
      releaseOf(stack, operation).aliasId,
      { Ref: api },
      `/v1/${operation.method}${operation.path.replaceAll(/\{\w+\}/g, '*')}`,
    ]),
  );
});

test('the account’s CloudWatch role is made only when asked for, and outlives a throw-away stack', () => {
  const asked = templateWith({ throwaway: true, cloudWatchRole: true });
  asked.hasResource('AWS::ApiGateway::Account', { DeletionPolicy: 'Retain' });
});

test('the stage is put behind a web ACL only where one is named', () => {
  template.resourceCountIs('AWS::WAFv2::WebACLAssociation', 0);
  templateWith({ webAclArn: WEB_ACL_ARN }).hasResourceProperties('AWS::WAFv2::WebACLAssociation', {
    WebACLArn: WEB_ACL_ARN,
    ResourceArn: { 'Fn::Join': ['', Match.arrayWith(['::/restapis/', { Ref: Match.stringLikeRegexp('Stage') }])] },
  });
});

test('another web ACL stays attached when its association has replaced the old one', () => {
  templateWith({ webAclArn: WEB_ACL_ARN }).hasResource('AWS::WAFv2::WebACLAssociation', {
    UpdateReplacePolicy: 'Retain',
    DeletionPolicy: 'Delete',
  });
});
