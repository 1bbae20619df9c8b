import type { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import {
  allOperations,
  apiDefinitionOf,
  onlyOf,
  propertiesOf,
  releaseOf,
  templateWith,
  textOf,
} from '../../test/support/stack.ts';
import { gatewayResponses } from '../data/gateway-responses.ts';

const template = templateWith({});

test('the API and its domain require TLS 1.2 or newer with forward secrecy, also after an import, which replaces the whole API', () => {
  const stack = templateWith({ domain: { name: 'plants.example.com', hostedZoneId: 'Z0123456789ABC' } });
  const tls = { SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09', EndpointAccessMode: 'BASIC' };
  stack.hasResourceProperties('AWS::ApiGateway::RestApi', tls);
  stack.hasResourceProperties('AWS::ApiGateway::DomainName', tls);
  expect(onlyOf(stack, 'AWS::ApiGateway::RestApi').Mode).toBe('overwrite');
  expect(apiDefinitionOf(stack)).toMatchObject({
    'x-amazon-apigateway-security-policy': tls.SecurityPolicy,
    'x-amazon-apigateway-endpoint-access-mode': tls.EndpointAccessMode,
  });
});

test('the endpoint is regional, also after an import', () => {
  template.hasResourceProperties('AWS::ApiGateway::RestApi', {
    EndpointConfiguration: { Types: ['REGIONAL'] },
    Parameters: { endpointConfigurationTypes: 'REGIONAL' },
  });
});

test('a domain sets the base URL and adds a certificate and a DNS record', () => {
  const [domainName, zone] = ['plants.example.com', { HostedZoneId: 'Z0123456789ABC' }];
  const stack = templateWith({ domain: { name: domainName, hostedZoneId: zone.HostedZoneId } });
  stack.hasOutput('ApiUrl', { Value: `https://${domainName}` });
  stack.hasResourceProperties('AWS::CertificateManager::Certificate', {
    DomainValidationOptions: [{ DomainName: domainName, ...zone }],
  });
  stack.hasResourceProperties('AWS::Route53::RecordSet', { Name: `${domainName}.`, ...zone });
});

test('the API stage v1 throttles each method, with a burst limit of twice the rate', () => {
  const stage = onlyOf(templateWith({ requestsPerSecond: 2500 }), 'AWS::ApiGateway::Stage');
  expect(stage.StageName).toBe('v1');
  // No LoggingLevel: execution logs would contain the Authorization header.
  const limits = { ThrottlingRateLimit: 2500, ThrottlingBurstLimit: 5000 };
  expect(stage.MethodSettings).toEqual([{ HttpMethod: '*', ResourcePath: '/*', DataTraceEnabled: false, ...limits }]);
});

test('the access log is kept for one month and contains no header and no id that the client can choose', () => {
  const { DestinationArn, Format } = onlyOf(template, 'AWS::ApiGateway::Stage').AccessLogSetting;
  const [logGroup = ''] = /ApiAccessLog\w+/.exec(textOf(DestinationArn)) ?? [];
  expect(propertiesOf(template, 'AWS::Logs::LogGroup')[logGroup]).toMatchObject({ RetentionInDays: 30 });
  expect(Format).toContain('$context.extendedRequestId');
  expect(Format).not.toMatch(/header|userAgent|\$context\.(requestId|path|authorizer)\b/i);
});

test('a deployment fails if API Gateway warns about the definition, instead of leaving out a part of the API', () => {
  expect(onlyOf(template, 'AWS::ApiGateway::RestApi').FailOnWarnings).toBe(true);
});

test('a change of the CORS setting makes a new deployment of the API', () => {
  const deploymentsOf = (stack: Template) => Object.keys(propertiesOf(stack, 'AWS::ApiGateway::Deployment'));
  const after = templateWith({ allowOrigins: ['https://a.example'] });
  expect(deploymentsOf(after)).not.toEqual(deploymentsOf(template));
});

test.each(allOperations)('API Gateway can invoke $operationId only for its own method and path', (operation) => {
  const permissions = Object.values(propertiesOf(template, 'AWS::Lambda::Permission'));
  const { aliasId } = releaseOf(template, operation);
  const [api = ''] = Object.keys(propertiesOf(template, 'AWS::ApiGateway::RestApi'));
  const own = permissions.filter(({ FunctionName }) => FunctionName.Ref === aliasId);
  const route = `${operation.method}${operation.path.replaceAll(/\{\w+\}/g, '*')}`;
  expect(own).toHaveLength(1);
  expect(own[0]).toMatchObject({ Action: 'lambda:InvokeFunction', Principal: 'apigateway.amazonaws.com' });
  expect(textOf(own[0]?.SourceArn).split(':').at(-1)).toBe(`${api}/v1/${route}`);
});

test('the API stage changes after the permissions to invoke', () => {
  const permissions = Object.keys(propertiesOf(template, 'AWS::Lambda::Permission'));
  expect(permissions).toHaveLength(allOperations.length);
  const [stage] = Object.values(template.findResources('AWS::ApiGateway::Stage'));
  expect(stage?.['DependsOn']).toEqual(expect.arrayContaining(permissions));
});

test('the stack creates the account’s role for logs, which is kept when the stack is deleted', () => {
  template.hasResource('AWS::ApiGateway::Account', { DeletionPolicy: 'Retain' });
  templateWith({ cloudWatchRole: false }).resourceCountIs('AWS::ApiGateway::Account', 0);
});

test('a web ACL sends the gateway’s response to an address above its rate, and stores no sampled requests', () => {
  template.resourceCountIs('AWS::WAFv2::WebACL', 0);
  const stack = templateWith({ webAcl: true, allowOrigins: ['https://a.example'] });
  const { CustomResponseBodies, ...acl } = onlyOf(stack, 'AWS::WAFv2::WebACL');
  expect(acl.DefaultAction).toEqual({ Allow: {} });
  const rate = { AggregateKeyType: 'IP', EvaluationWindowSec: 60, Limit: 3000 };
  expect(acl.Rules).toMatchObject([{ Statement: { RateBasedStatement: rate } }]);
  for (const { Action } of acl.Rules) {
    const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = Action.Block.CustomResponse;
    expect(ResponseCode).toBe(400);
    expect(JSON.parse(CustomResponseBodies[CustomResponseBodyKey].Content)).toEqual(gatewayResponses.THROTTLED);
    const headers = Object.fromEntries(ResponseHeaders.map(({ Name, Value }: Record<string, string>) => [Name, Value]));
    expect(headers).toMatchObject({ 'Retry-After': '60', 'Access-Control-Allow-Origin': 'https://a.example' });
  }
  // A sampled request would contain the client's token.
  for (const { VisibilityConfig } of [acl, ...acl.Rules]) expect(VisibilityConfig.SampledRequestsEnabled).toBe(false);
  expect(textOf(onlyOf(stack, 'AWS::WAFv2::WebACLAssociation').ResourceArn)).toMatch(/:\/restapis\/\w+\/stages\/\w+$/);
});
