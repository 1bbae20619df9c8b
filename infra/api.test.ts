import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import {
  allPropertiesOf,
  EVERYTHING,
  idOf,
  propertiesOf,
  stackWith,
  templateWith,
  withChange,
} from '../test/support/stack.ts';
import { corsHeaders } from './data/cors-headers.ts';
import { gatewayResponses, NOT_FOUND } from './data/gateway-errors.ts';

const template = templateWith();
const everything = templateWith(EVERYTHING);
const A = 'https://a.example';
const [RestApiId, stageId] = ['RestApi', 'Stage'].map((type) => idOf(template, `AWS::ApiGateway::${type}`));
const regionalWithTls12 = {
  EndpointConfiguration: { Types: ['REGIONAL'] },
  SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09',
  EndpointAccessMode: 'BASIC',
};

/** The properties of the only resource of a type in the stack with every setting. */
const ofEverything = (type: string) => propertiesOf(everything, `AWS::${type}`);

test('the API is regional, requires TLS 1.2 or newer, and gives the function every body as base64', () => {
  const api = { Name: 'PlantStore', BinaryMediaTypes: ['*/*'], ...regionalWithTls12 };
  expect(ofEverything('ApiGateway::RestApi')).toEqual(api);
});

test('a domain sets the base URL, has a certificate and a DNS record, and leads all paths to the API', () => {
  const [DomainName, HostedZoneId] = ['plants.example.com', 'Z0123456789ABC'];
  const id = idOf(everything, 'AWS::ApiGateway::DomainName');
  const RegionalCertificateArn = idOf(everything, 'AWS::CertificateManager::Certificate');
  everything.hasOutput('ApiUrl', { Value: `https://${DomainName}` });
  expect(ofEverything('ApiGateway::DomainName')).toEqual({ DomainName, RegionalCertificateArn, ...regionalWithTls12 });
  expect(ofEverything('ApiGateway::BasePathMapping')).toEqual({ DomainName: id, RestApiId, Stage: stageId });
  const { Tags: _, ...certificate } = ofEverything('CertificateManager::Certificate');
  const DomainValidationOptions = [{ DomainName, HostedZoneId }];
  expect(certificate).toEqual({ DomainName, ValidationMethod: 'DNS', DomainValidationOptions });
  const AliasTarget = { DNSName: `${id}.RegionalDomainName`, HostedZoneId: `${id}.RegionalHostedZoneId` };
  expect(ofEverything('Route53::RecordSet')).toEqual({ Name: `${DomainName}.`, Type: 'A', HostedZoneId, AliasTarget });
});

test('the API stage v1 throttles each method, with a burst limit of twice the rate', () => {
  const { AccessLogSetting: _, ...stage } = ofEverything('ApiGateway::Stage');
  const DeploymentId = idOf(everything, 'AWS::ApiGateway::Deployment');
  const limits = { ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1000 };
  // No LoggingLevel: execution logs would contain the Authorization header.
  const MethodSettings = [{ HttpMethod: '*', ResourcePath: '/*', DataTraceEnabled: false, ...limits }];
  expect(stage).toEqual({ StageName: 'v1', RestApiId, DeploymentId, MethodSettings });
});

test('the access log has exactly these fields: no header, and no id that the client can choose', () => {
  const { DestinationArn, Format } = propertiesOf(template, 'AWS::ApiGateway::Stage').AccessLogSetting;
  const logGroup = idOf(template, 'AWS::Logs::LogGroup', 'ApiAccessLog');
  expect(DestinationArn).toBe(`arn:AWS::Partition:logs:AWS::Region:AWS::AccountId:log-group:${logGroup}`);
  expect(JSON.parse(Format)).toEqual({
    extendedRequestId: '$context.extendedRequestId',
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

test('API Gateway may invoke the alias only for POST /plants of this stage, and nobody else may invoke anything', () => {
  const aliasId = idOf(template, 'AWS::Lambda::Alias', 'Release');
  // CloudFormation cannot replace the alias: a function cannot have two aliases with the name live.
  expect(aliasId).toBe('ReleaseLive284FCDB0');
  // The permission refers to the stage. If the stage waited for it, Template.fromStack would report a cycle.
  const SourceArn = `arn:AWS::Partition:execute-api:AWS::Region:AWS::AccountId:${RestApiId}/${stageId}/POST/plants`;
  expect(Object.values(allPropertiesOf(template, 'AWS::Lambda::Permission'))).toEqual([
    { Action: 'lambda:InvokeFunction', FunctionName: aliasId, Principal: 'apigateway.amazonaws.com', SourceArn },
  ]);
});

const withPrefix = (prefix: string, headers: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${prefix}.header.${name}`, value]));

/** A method that responds without a function, to any body. */
function mock(StatusCode: '200' | '400', headers: Record<string, string>) {
  // Without both CONVERT_TO_TEXT and NEVER, a request with a body fails with error 500.
  const ContentHandling = 'CONVERT_TO_TEXT';
  const ResponseParameters = withPrefix('method.response', headers);
  const body = StatusCode === '400' && { ResponseTemplates: { 'application/json': JSON.stringify(NOT_FOUND) } };
  // API Gateway sends only the statuses and headers that the method declares.
  const declared = Object.fromEntries(Object.keys(ResponseParameters).map((name) => [name, true]));
  return {
    AuthorizationType: 'NONE',
    MethodResponses: [{ StatusCode, ResponseParameters: declared }],
    Integration: {
      Type: 'MOCK',
      ContentHandling,
      PassthroughBehavior: 'NEVER',
      RequestTemplates: { 'application/json': `{"statusCode":${StatusCode}}` },
      IntegrationResponses: [{ StatusCode, ContentHandling, ResponseParameters, ...body }],
    },
  };
}

describe.each([
  [[], undefined],
  [[A, 'https://b.example'], '*'],
])('with the allowed origins %j', (allowOrigins, allowed) => {
  const stack = templateWith({ allowOrigins });
  // API Gateway reads a value without quotation marks as an expression.
  const origin = { 'Access-Control-Allow-Origin': `'${allowed}'` };
  const exposed = "'x-amz-apigw-id,Retry-After,WWW-Authenticate,x-amzn-Remapped-WWW-Authenticate'";
  const cors = allowed ? { ...origin, 'Access-Control-Expose-Headers': exposed } : {};

  test('POST /plants invokes the alias, and each other method responds without a function', () => {
    const parts = allPropertiesOf(stack, 'AWS::ApiGateway::Resource');
    const methods = Object.values(allPropertiesOf(stack, 'AWS::ApiGateway::Method'));
    const byName = methods.map(({ HttpMethod, ResourceId, RestApiId: _, ...method }) => {
      return [`${HttpMethod} /${parts[ResourceId]?.PathPart ?? ''}`, method];
    });
    const alias = idOf(stack, 'AWS::Lambda::Alias', 'Release');
    const Uri = `arn:AWS::Partition:apigateway:AWS::Region:lambda:path/2015-03-31/functions/${alias}/invocations`;
    const preflight = {
      ...origin,
      'Access-Control-Allow-Headers': "'Authorization,Content-Type'",
      'Access-Control-Allow-Methods': "'POST'",
      'Access-Control-Max-Age': "'3600'",
    };
    const Integration = { Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST', Uri };
    expect(Object.fromEntries(byName)).toEqual({
      'POST /plants': { AuthorizationType: 'NONE', Integration },
      // OPTIONS is always there: a method that is removed stays live until the next deployment of the API.
      'OPTIONS /plants': allowed ? mock('200', preflight) : mock('400', {}),
      ...Object.fromEntries(['/', '/plants', '/{proxy+}'].map((path) => [`ANY ${path}`, mock('400', cors)])),
    });
  });

  test('each gateway response is a 400 with an Error of the contract, with the headers of that error', () => {
    const responses = Object.values(allPropertiesOf(stack, 'AWS::ApiGateway::GatewayResponse'));
    const errors = responses.map(({ ResponseType, StatusCode, ResponseTemplates, ResponseParameters }) => {
      expect(StatusCode).toBe('400');
      const { error, ...others } = JSON.parse(ResponseTemplates['application/json']);
      expect(others).toEqual({ message: expect.stringMatching(/^[A-Z].+\.$/) });
      const headers = { ...(error === 429 && { 'Retry-After': "'1'" }), ...cors };
      expect(ResponseParameters).toEqual(withPrefix('gatewayresponse', headers));
      return [ResponseType, error];
    });
    // Each other type gets the body of one of the two defaults ("Gateway response types for API Gateway").
    expect(Object.fromEntries(errors)).toEqual({
      DEFAULT_4XX: 400,
      DEFAULT_5XX: 500,
      INTEGRATION_TIMEOUT: 504,
      INVALID_SIGNATURE: 404,
      MISSING_AUTHENTICATION_TOKEN: 404,
      RESOURCE_NOT_FOUND: 404,
      THROTTLED: 429,
      UNSUPPORTED_MEDIA_TYPE: 404,
      WAF_FILTERED: 429,
    });
  });
});

test('a change of CORS, of a message or of the RestApi makes a new deployment of the API, and new code does not', () => {
  const deploymentOf = (stack: Template) => idOf(stack, 'AWS::ApiGateway::Deployment');
  const before = deploymentOf(template);
  // The limit belongs to the stage.
  expect(deploymentOf(templateWith({ requestsPerSecond: 7 }))).toBe(before);
  expect(deploymentOf(templateWith({ allowOrigins: [A] }))).not.toBe(before);
  expect(deploymentOf(withChange('Function', 'Code.S3Key', 'other.zip'))).toBe(before);
  expect(deploymentOf(withChange('Api/RestApi', 'SecurityPolicy', 'TLS_1_2'))).not.toBe(before);
  for (const body of [gatewayResponses.THROTTLED, NOT_FOUND]) {
    const { message } = body;
    try {
      body.message = 'Changed.';
      expect(deploymentOf(Template.fromStack(stackWith()))).not.toBe(before);
    } finally {
      body.message = message;
    }
  }
});

test('only with cloudWatchRole, the stack sets the account’s role for logs, and leaves it there', () => {
  everything.hasResource('AWS::ApiGateway::Account', { DeletionPolicy: 'Retain' });
  template.resourceCountIs('AWS::ApiGateway::Account', 0);
});

test('a web ACL sends the gateway’s response to an address above its rate, and stores no sampled requests', () => {
  template.resourceCountIs('AWS::WAFv2::WebACL', 0);
  const withWebAcl = templateWith({ webAcl: true, allowOrigins: [A] });
  // A sampled request would contain the client's token.
  const visibility = { CloudWatchMetricsEnabled: true, SampledRequestsEnabled: false };
  const throttled = { ContentType: 'APPLICATION_JSON', Content: JSON.stringify(gatewayResponses.THROTTLED) };
  const headers = Object.entries({ 'Retry-After': '60', ...corsHeaders([A]) });
  const ResponseHeaders = headers.map(([Name, Value]) => ({ Name, Value }));
  const rule = {
    Name: 'rate-of-each-address',
    Priority: 0,
    Statement: { RateBasedStatement: { AggregateKeyType: 'IP', EvaluationWindowSec: 60, Limit: 3000 } },
    Action: { Block: { CustomResponse: { ResponseCode: 400, CustomResponseBodyKey: 'throttled', ResponseHeaders } } },
    VisibilityConfig: { ...visibility, MetricName: 'RateOfEachAddress' },
  };
  expect(propertiesOf(withWebAcl, 'AWS::WAFv2::WebACL')).toEqual({
    Scope: 'REGIONAL',
    DefaultAction: { Allow: {} },
    CustomResponseBodies: { throttled },
    Rules: [rule],
    VisibilityConfig: { ...visibility, MetricName: 'WebAcl' },
  });
  expect(propertiesOf(withWebAcl, 'AWS::WAFv2::WebACLAssociation')).toEqual({
    ResourceArn: `arn:AWS::Partition:apigateway:AWS::Region::/restapis/${RestApiId}/stages/${stageId}`,
    WebACLArn: `${idOf(withWebAcl, 'AWS::WAFv2::WebACL')}.Arn`,
  });
});
