import type { CfnResource } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { EVERYTHING, onlyIdOf, onlyOf, propertiesOf, stackWith, templateWith } from '../test/support/stack.ts';
import { corsHeaders } from './data/cors.ts';
import { gatewayResponses, NOT_FOUND } from './data/gateway-responses.ts';

const template = templateWith();
const everything = templateWith(EVERYTHING);
const A = 'https://a.example';

/** The methods of the API by name, such as `POST /plants`. */
function methodsOf(stack: Template) {
  const parts = propertiesOf(stack, 'AWS::ApiGateway::Resource');
  const pathOf = (id: string) => `/${parts[id]?.PathPart ?? ''}`;
  return Object.fromEntries(
    Object.values(propertiesOf(stack, 'AWS::ApiGateway::Method')).map((method) => [
      `${method.HttpMethod} ${pathOf(method.ResourceId)}`,
      method,
    ]),
  );
}

const apiId = onlyIdOf(template, 'AWS::ApiGateway::RestApi');
const stageId = onlyIdOf(template, 'AWS::ApiGateway::Stage');
const tls = { SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09', EndpointAccessMode: 'BASIC' };
const EndpointConfiguration = { Types: ['REGIONAL'] };

test('the API is regional, requires TLS 1.2 or newer with forward secrecy, and gives the function every body as base64', () => {
  const api = { Name: 'PlantStore', EndpointConfiguration, BinaryMediaTypes: ['*/*'], ...tls };
  expect(onlyOf(template, 'AWS::ApiGateway::RestApi')).toEqual(api);
});

test('a domain sets the base URL, requires the same TLS, and has a certificate, a DNS record and all paths', () => {
  const [DomainName, HostedZoneId] = ['plants.example.com', 'Z0123456789ABC'];
  const domain = onlyIdOf(everything, 'AWS::ApiGateway::DomainName');
  const RegionalCertificateArn = onlyIdOf(everything, 'AWS::CertificateManager::Certificate');
  everything.hasOutput('ApiUrl', { Value: `https://${DomainName}` });
  expect(onlyOf(everything, 'AWS::ApiGateway::BasePathMapping')).toEqual({
    DomainName: domain,
    RestApiId: apiId,
    Stage: stageId,
  });
  expect(onlyOf(everything, 'AWS::ApiGateway::DomainName')).toEqual({
    DomainName,
    EndpointConfiguration,
    RegionalCertificateArn,
    ...tls,
  });
  expect(onlyOf(everything, 'AWS::CertificateManager::Certificate')).toMatchObject({
    DomainName,
    ValidationMethod: 'DNS',
    DomainValidationOptions: [{ DomainName, HostedZoneId }],
  });
  expect(onlyOf(everything, 'AWS::Route53::RecordSet')).toEqual({
    Name: `${DomainName}.`,
    Type: 'A',
    HostedZoneId,
    AliasTarget: { DNSName: `${domain}.RegionalDomainName`, HostedZoneId: `${domain}.RegionalHostedZoneId` },
  });
});

test('the API stage v1 throttles each method, with a burst limit of twice the rate', () => {
  const { AccessLogSetting: _, ...stage } = onlyOf(everything, 'AWS::ApiGateway::Stage');
  const limits = { ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1000 };
  expect(stage).toEqual({
    StageName: 'v1',
    RestApiId: apiId,
    DeploymentId: onlyIdOf(everything, 'AWS::ApiGateway::Deployment'),
    // No LoggingLevel: execution logs would contain the Authorization header.
    MethodSettings: [{ HttpMethod: '*', ResourcePath: '/*', DataTraceEnabled: false, ...limits }],
  });
});

test('the access log is kept for one month, and has no header and no id that the client can choose', () => {
  const { DestinationArn, Format } = onlyOf(template, 'AWS::ApiGateway::Stage').AccessLogSetting;
  const logGroup = onlyIdOf(template, 'AWS::Logs::LogGroup', 'ApiAccessLog');
  expect(DestinationArn).toBe(`arn:AWS::Partition:logs:AWS::Region:AWS::AccountId:log-group:${logGroup}`);
  expect(propertiesOf(template, 'AWS::Logs::LogGroup')[logGroup]).toEqual({ RetentionInDays: 30 });
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

test('POST /plants invokes the alias, which API Gateway may invoke only for this method of this stage', () => {
  const aliasId = onlyIdOf(template, 'AWS::Lambda::Alias', 'Release');
  // CloudFormation cannot replace the alias: a function cannot have two aliases with the name live.
  expect(aliasId).toBe('ReleaseLive284FCDB0');
  const { Integration, AuthorizationType } = methodsOf(template)['POST /plants'];
  const lambda = 'arn:AWS::Partition:apigateway:AWS::Region:lambda:path/2015-03-31/functions';
  expect(Integration).toEqual({
    Type: 'AWS_PROXY',
    IntegrationHttpMethod: 'POST',
    Uri: `${lambda}/${aliasId}/invocations`,
  });
  expect(AuthorizationType).toBe('NONE');
  // The permission refers to the stage. If the stage waited for it, Template.fromStack would report a cycle.
  expect(onlyOf(template, 'AWS::Lambda::Permission', 'ApiRestApiplantsPOST')).toEqual({
    Action: 'lambda:InvokeFunction',
    FunctionName: aliasId,
    Principal: 'apigateway.amazonaws.com',
    SourceArn: `arn:AWS::Partition:execute-api:AWS::Region:AWS::AccountId:${apiId}/${stageId}/POST/plants`,
  });
});

describe.each([
  [[], undefined],
  [[A], A],
  [[A, 'https://b.example'], '*'],
])('with the allowed origins %j', (allowOrigins, allowed) => {
  const stack = templateWith({ allowOrigins });
  const methods = methodsOf(stack);
  const notFound = { 'application/json': JSON.stringify(NOT_FOUND) };
  const exposed = "'x-amz-apigw-id,Retry-After,WWW-Authenticate,x-amzn-Remapped-WWW-Authenticate'";
  // API Gateway reads a value without quotation marks as an expression.
  const cors = {
    ...(allowed && { 'Access-Control-Allow-Origin': `'${allowed}'`, 'Access-Control-Expose-Headers': exposed }),
  };
  const preflight = {
    'Access-Control-Allow-Headers': "'Authorization,Content-Type'",
    'Access-Control-Allow-Methods': "'POST'",
    'Access-Control-Allow-Origin': `'${allowed}'`,
    'Access-Control-Max-Age': "'3600'",
  };
  const withPrefix = (prefix: string, headers: Record<string, string>) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${prefix}.header.${name}`, value]));

  test('the API has exactly these methods', () => {
    // OPTIONS is always there: a method that is removed stays live until the next deployment of the API.
    const expected = 'ANY /, ANY /plants, ANY /{proxy+}, OPTIONS /plants, POST /plants';
    expect(Object.keys(methods).toSorted().join(', ')).toBe(expected);
  });

  test.each([
    ['ANY /', '400', cors],
    ['ANY /plants', '400', cors],
    ['ANY /{proxy+}', '400', cors],
    ['OPTIONS /plants', allowed ? '200' : '400', allowed ? preflight : {}],
  ])('%s responds without a function, to any body, with status %s', (method, status, headers) => {
    const { Integration, MethodResponses } = methods[method];
    const responseParameters = withPrefix('method.response', headers);
    // Without both CONVERT_TO_TEXT and NEVER, a request with a body fails with error 500.
    expect(Integration).toEqual({
      Type: 'MOCK',
      ContentHandling: 'CONVERT_TO_TEXT',
      PassthroughBehavior: 'NEVER',
      RequestTemplates: { 'application/json': `{"statusCode":${status}}` },
      IntegrationResponses: [
        {
          StatusCode: status,
          ContentHandling: 'CONVERT_TO_TEXT',
          ResponseParameters: responseParameters,
          ...(status === '400' && { ResponseTemplates: notFound }),
        },
      ],
    });
    // API Gateway sends only the statuses and headers that the method declares.
    const declared = Object.fromEntries(Object.keys(responseParameters).map((name) => [name, true]));
    expect(MethodResponses).toEqual([{ StatusCode: status, ResponseParameters: declared }]);
  });

  test('each gateway response is a 400 with an Error of the contract, with the headers of that error', () => {
    const responses = Object.values(propertiesOf(stack, 'AWS::ApiGateway::GatewayResponse'));
    const errors = responses.map(({ ResponseType, StatusCode, ResponseTemplates, ResponseParameters }) => {
      expect(StatusCode).toBe('400');
      const { error, ...others } = JSON.parse(ResponseTemplates['application/json']);
      expect(others).toEqual({ message: expect.stringMatching(/^[A-Z].+\.$/) });
      const ofError = {
        ...(error === 429 && { 'Retry-After': "'1'" }),
      };
      expect(ResponseParameters).toEqual(withPrefix('gatewayresponse', { ...ofError, ...cors }));
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
  const deploymentOf = (stack: Template) => onlyIdOf(stack, 'AWS::ApiGateway::Deployment');
  const before = deploymentOf(template);
  // The limit belongs to the stage.
  expect(deploymentOf(templateWith({ requestsPerSecond: 7 }))).toBe(before);
  expect(deploymentOf(templateWith({ allowOrigins: [A] }))).not.toBe(before);
  /** The deployment after this property of a resource has changed. */
  const deploymentAfter = (path: string, property: string, value: string) => {
    const stack = stackWith();
    const resource = stack.node.findAll().find((each) => each.node.path === `PlantStore/${path}/Resource`);
    (resource as CfnResource).addPropertyOverride(property, value);
    return deploymentOf(Template.fromStack(stack));
  };
  expect(deploymentAfter('CreatePlant/Function', 'Code.S3Key', 'other.zip')).toBe(before);
  expect(deploymentAfter('Api/RestApi', 'SecurityPolicy', 'TLS_1_2')).not.toBe(before);
  const { THROTTLED } = gatewayResponses;
  for (const body of [THROTTLED, NOT_FOUND]) {
    const { message } = body;
    body.message = 'Changed.';
    expect(deploymentOf(Template.fromStack(stackWith()))).not.toBe(before);
    body.message = message;
  }
});

test('only with cloudWatchRole, the stack sets the account’s role for logs, which stays when the stack is deleted', () => {
  everything.hasResource('AWS::ApiGateway::Account', { DeletionPolicy: 'Retain' });
  template.resourceCountIs('AWS::ApiGateway::Account', 0);
});

test('a web ACL sends the gateway’s response to an address above its rate, and stores no sampled requests', () => {
  template.resourceCountIs('AWS::WAFv2::WebACL', 0);
  // A sampled request would contain the client's token.
  const unsampled = { CloudWatchMetricsEnabled: true, SampledRequestsEnabled: false };
  const headers = Object.entries({ 'Retry-After': '60', ...corsHeaders([A]) });
  expect(onlyOf(everything, 'AWS::WAFv2::WebACL')).toEqual({
    Scope: 'REGIONAL',
    DefaultAction: { Allow: {} },
    VisibilityConfig: { ...unsampled, MetricName: 'WebAcl' },
    CustomResponseBodies: {
      throttled: { ContentType: 'APPLICATION_JSON', Content: JSON.stringify(gatewayResponses.THROTTLED) },
    },
    Rules: [
      {
        Name: 'rate-of-each-address',
        Priority: 0,
        Statement: { RateBasedStatement: { AggregateKeyType: 'IP', EvaluationWindowSec: 60, Limit: 3000 } },
        VisibilityConfig: { ...unsampled, MetricName: 'RateOfEachAddress' },
        Action: {
          Block: {
            CustomResponse: {
              ResponseCode: 400,
              CustomResponseBodyKey: 'throttled',
              ResponseHeaders: headers.map(([Name, Value]) => ({ Name, Value })),
            },
          },
        },
      },
    ],
  });
  expect(onlyOf(everything, 'AWS::WAFv2::WebACLAssociation')).toEqual({
    ResourceArn: `arn:AWS::Partition:apigateway:AWS::Region::/restapis/${apiId}/stages/${stageId}`,
    WebACLArn: `${onlyIdOf(everything, 'AWS::WAFv2::WebACL')}.Arn`,
  });
});
