import type { CfnResource } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { EVERYTHING, onlyIdOf, onlyOf, propertiesOf, stackWith, templateWith, textOf } from '../test/support/stack.ts';
import { gatewayResponses, NOT_FOUND } from './data/gateway-responses.ts';

const template = templateWith();
const everything = templateWith(EVERYTHING);
const A = 'https://a.example';

/** The methods of the API by name, such as `POST /plants`. */
function methodsOf(stack: Template) {
  const parts = propertiesOf(stack, 'AWS::ApiGateway::Resource');
  const pathOf = ({ Ref }: { Ref?: string }) => (Ref === undefined ? '/' : `/${parts[Ref].PathPart}`);
  return Object.fromEntries(
    Object.values(propertiesOf(stack, 'AWS::ApiGateway::Method')).map((method) => [
      `${method.HttpMethod} ${pathOf(method.ResourceId)}`,
      method,
    ]),
  );
}

test('the API and its domain require TLS 1.2 or newer with forward secrecy', () => {
  const tls = { SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09', EndpointAccessMode: 'BASIC' };
  expect(onlyOf(everything, 'AWS::ApiGateway::RestApi')).toMatchObject(tls);
  expect(onlyOf(everything, 'AWS::ApiGateway::DomainName')).toMatchObject(tls);
});

test('the endpoint is regional, and the function gets every body as base64', () => {
  const ofApi = { Name: 'PlantStore', EndpointConfiguration: { Types: ['REGIONAL'] }, BinaryMediaTypes: ['*/*'] };
  expect(onlyOf(template, 'AWS::ApiGateway::RestApi')).toMatchObject(ofApi);
});

test('a domain sets the base URL and adds a certificate and a DNS record', () => {
  const [domainName, zone] = ['plants.example.com', { HostedZoneId: 'Z0123456789ABC' }];
  everything.hasOutput('ApiUrl', { Value: `https://${domainName}` });
  expect(onlyOf(everything, 'AWS::CertificateManager::Certificate')).toMatchObject({
    DomainValidationOptions: [{ DomainName: domainName, ...zone }],
  });
  expect(onlyOf(everything, 'AWS::Route53::RecordSet')).toMatchObject({ Name: `${domainName}.`, ...zone });
});

test('the API stage v1 throttles each method, with a burst limit of twice the rate', () => {
  const stage = onlyOf(everything, 'AWS::ApiGateway::Stage');
  expect(stage.StageName).toBe('v1');
  // No LoggingLevel: execution logs would contain the Authorization header.
  const limits = { ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1000 };
  expect(stage.MethodSettings).toEqual([{ HttpMethod: '*', ResourcePath: '/*', DataTraceEnabled: false, ...limits }]);
});

test('the access log is kept for one month and contains no header and no id that the client can choose', () => {
  const { DestinationArn, Format } = onlyOf(template, 'AWS::ApiGateway::Stage').AccessLogSetting;
  const logGroup = textOf(DestinationArn).split(':').at(-1) ?? '';
  expect(propertiesOf(template, 'AWS::Logs::LogGroup')[logGroup]).toEqual({ RetentionInDays: 30 });
  expect(Format).toContain('$context.extendedRequestId');
  expect(Format).not.toMatch(/header|userAgent|\$context\.(requestId|path|authorizer)\b/i);
});

test('POST /plants invokes the alias, which API Gateway may invoke only for this method of this stage', () => {
  const aliasId = onlyIdOf(template, 'AWS::Lambda::Alias');
  // CloudFormation cannot replace the alias: a function cannot have two aliases with the name live.
  expect(aliasId).toBe('ReleaseLive284FCDB0');
  const { Integration, AuthorizationType } = methodsOf(template)['POST /plants'];
  expect(Integration).toMatchObject({ Type: 'AWS_PROXY', IntegrationHttpMethod: 'POST' });
  expect(AuthorizationType).toBe('NONE');
  expect(textOf(Integration.Uri)).toMatch(`:lambda:path/2015-03-31/functions/${aliasId}/invocations`);
  const { SourceArn, ...permission } = onlyOf(template, 'AWS::Lambda::Permission');
  expect(permission).toEqual({
    Action: 'lambda:InvokeFunction',
    FunctionName: { Ref: aliasId },
    Principal: 'apigateway.amazonaws.com',
  });
  // The permission refers to the stage. If the stage waited for it, Template.fromStack would report a cycle.
  const [api, stage] = ['RestApi', 'Stage'].map((type) => onlyIdOf(template, `AWS::ApiGateway::${type}`));
  expect(textOf(SourceArn)).toBe(
    `arn:AWS::Partition:execute-api:AWS::Region:AWS::AccountId:${api}/${stage}/POST/plants`,
  );
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
        ...(error === 401 && { 'WWW-Authenticate': `'Bearer realm="plant-store"'` }),
        ...(error === 429 && { 'Retry-After': "'1'" }),
      };
      expect(ResponseParameters).toEqual(withPrefix('gatewayresponse', { ...ofError, ...cors }));
      return [ResponseType, error];
    });
    // Each other type gets the body of one of the two defaults ("Gateway response types for API Gateway").
    expect(Object.fromEntries(errors)).toEqual({
      ACCESS_DENIED: 401,
      DEFAULT_4XX: 400,
      DEFAULT_5XX: 500,
      EXPIRED_TOKEN: 401,
      INTEGRATION_TIMEOUT: 504,
      INVALID_SIGNATURE: 404,
      MISSING_AUTHENTICATION_TOKEN: 404,
      RESOURCE_NOT_FOUND: 404,
      THROTTLED: 429,
      UNAUTHORIZED: 401,
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

test('the stack creates the account’s role for logs, which is kept when the stack is deleted', () => {
  template.hasResource('AWS::ApiGateway::Account', { DeletionPolicy: 'Retain' });
  templateWith({ cloudWatchRole: false }).resourceCountIs('AWS::ApiGateway::Account', 0);
  // An ephemeral stack creates it only if the setting says so.
  templateWith({ ephemeral: true }).resourceCountIs('AWS::ApiGateway::Account', 0);
  templateWith({ ephemeral: true, cloudWatchRole: true }).resourceCountIs('AWS::ApiGateway::Account', 1);
});

test('a web ACL sends the gateway’s response to an address above its rate, and stores no sampled requests', () => {
  template.resourceCountIs('AWS::WAFv2::WebACL', 0);
  // A sampled request would contain the client's token.
  const unsampled = { SampledRequestsEnabled: false };
  expect(onlyOf(everything, 'AWS::WAFv2::WebACL')).toMatchObject({
    DefaultAction: { Allow: {} },
    VisibilityConfig: unsampled,
    CustomResponseBodies: { throttled: { Content: JSON.stringify(gatewayResponses.THROTTLED) } },
    Rules: [
      {
        Statement: { RateBasedStatement: { AggregateKeyType: 'IP', EvaluationWindowSec: 60, Limit: 3000 } },
        VisibilityConfig: unsampled,
        Action: {
          Block: {
            CustomResponse: {
              ResponseCode: 400,
              CustomResponseBodyKey: 'throttled',
              ResponseHeaders: expect.arrayContaining([
                { Name: 'Retry-After', Value: '60' },
                { Name: 'Access-Control-Allow-Origin', Value: A },
              ]),
            },
          },
        },
      },
    ],
  });
  const stageArn = textOf(onlyOf(everything, 'AWS::WAFv2::WebACLAssociation').ResourceArn);
  expect(stageArn).toMatch(new RegExp(`/stages/${onlyIdOf(everything, 'AWS::ApiGateway::Stage')}$`));
});
