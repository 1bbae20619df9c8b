import { expect, test } from 'vitest';
import { contractBody } from '../test/support/contract-body.ts';
import { EVERYTHING, stackWith, synthesize, templateWith, withChange } from '../test/support/stack.ts';
import { gatewayResponses, NOT_FOUND } from './shared-with-local-run/gateway-errors.ts';

const production = templateWith();
const everything = templateWith(EVERYTHING);
const api = production.refTo('AWS::ApiGateway::RestApi');
const stage = production.refTo('AWS::ApiGateway::Stage');

test('nobody may invoke the function but API Gateway: the alias, for POST /plants of this stage', () => {
  // CloudFormation cannot replace the alias: a function cannot have two aliases with the name live.
  const FunctionName = `\${ReleaseLive284FCDB0}`;
  // The permission refers to the stage. If the stage waited for it, Template.fromStack would report a cycle.
  const SourceArn = `arn:\${AWS::Partition}:execute-api:\${AWS::Region}:\${AWS::AccountId}:${api}/${stage}/POST/plants`;
  const Principal = 'apigateway.amazonaws.com';
  const permission = { Action: 'lambda:InvokeFunction', FunctionName, Principal, SourceArn };
  expect(production.allPropertiesOf('AWS::Lambda::Permission')).toEqual([permission]);
  const { Integration } = production.propertiesOf('AWS::ApiGateway::Method', 'ApiRestApiplantsPOST');
  expect(Integration.Uri).toContain(`/functions/${FunctionName}/invocations`);
});

test('each method is throttled, with a burst limit of twice the rate', () => {
  // LoggingLevel and DataTraceEnabled would log the Authorization header.
  const limits = { DataTraceEnabled: false, ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1000 };
  const { MethodSettings } = everything.propertiesOf('AWS::ApiGateway::Stage');
  expect(MethodSettings).toEqual([{ HttpMethod: '*', ResourcePath: '/*', ...limits }]);
});

test('the access log has no header, no id that the client can choose, and no text of the client', () => {
  const { Format } = production.propertiesOf('AWS::ApiGateway::Stage').AccessLogSetting;
  expect(Format).not.toMatch(/header|userAgent|\$context\.(path|requestId)/i);
});

test('a domain leads all paths to the API stage', () => {
  const DomainName = everything.refTo('AWS::ApiGateway::DomainName');
  const mapping = { DomainName, RestApiId: api, Stage: stage };
  expect(everything.propertiesOf('AWS::ApiGateway::BasePathMapping')).toEqual(mapping);
});

test('a domain with a certificate has no record, and the stack outputs the target of the one that a person creates', () => {
  const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/1';
  const template = templateWith({ domain: { name: 'plants.example.com', certificateArn } });
  const domain = template.propertiesOf('AWS::ApiGateway::DomainName');
  expect(domain).toMatchObject({ DomainName: 'plants.example.com', RegionalCertificateArn: certificateArn });
  const DomainName = template.refTo('AWS::ApiGateway::DomainName');
  expect(template.propertiesOf('AWS::ApiGateway::BasePathMapping')).toMatchObject({ DomainName });
  const { ApiUrl, DomainTarget } = template.Outputs;
  expect(ApiUrl).toEqual({ Value: 'https://plants.example.com' });
  expect(DomainTarget).toEqual({ Value: `\${${template.idOf('AWS::ApiGateway::DomainName')}.RegionalDomainName}` });
  const types = Object.values(template.Resources).map(({ Type }) => Type);
  expect(types.filter((type) => /^AWS::(Route53|CertificateManager)/.test(type))).toEqual([]);
});

const bodyOf = (StatusCode: string, body: string) =>
  contractBody({ statusCode: Number(StatusCode), headers: { 'content-type': 'application/json' }, body });

test('each response of API Gateway itself is a 400 with an Error, which the allowed pages can read', () => {
  const responses = everything.allPropertiesOf('AWS::ApiGateway::GatewayResponse');
  const types = responses.map(({ ResponseType }) => ResponseType);
  // All other types get one of the bodies of these two ("Gateway response types for API Gateway").
  expect(types).toEqual(expect.arrayContaining(['DEFAULT_4XX', 'DEFAULT_5XX']));
  const methods = everything.allPropertiesOf('AWS::ApiGateway::Method');
  const notFound = methods.filter(({ HttpMethod }) => HttpMethod === 'ANY');
  responses.push(...notFound.flatMap(({ Integration }) => Integration.IntegrationResponses));
  for (const { StatusCode, ResponseTemplates, ResponseParameters } of responses) {
    expect(bodyOf(StatusCode, ResponseTemplates['application/json'])).toHaveProperty('error');
    // Fixed headers cannot allow several origins. API Gateway reads a value without quotation marks as an expression.
    expect(Object.values(ResponseParameters)).toContain("'*'");
  }
});

test('a web ACL, which costs money, is there only if it is set, protects the API stage, and stores no request', () => {
  expect(production.allPropertiesOf('AWS::WAFv2::WebACL')).toEqual([]);
  const { Scope, Rules, CustomResponseBodies, VisibilityConfig } = everything.propertiesOf('AWS::WAFv2::WebACL');
  const [{ Action, VisibilityConfig: ofRule }] = Rules;
  const { ResponseCode, CustomResponseBodyKey } = Action.Block.CustomResponse;
  expect(bodyOf(ResponseCode, CustomResponseBodies[CustomResponseBodyKey].Content)).toHaveProperty('error', 429);
  // A sampled request would contain the client's token.
  expect([VisibilityConfig.SampledRequestsEnabled, ofRule.SampledRequestsEnabled]).toEqual([false, false]);
  const { ResourceArn } = everything.propertiesOf('AWS::WAFv2::WebACLAssociation');
  expect([Scope, ResourceArn]).toEqual(['REGIONAL', expect.stringContaining(`/restapis/${api}/stages/${stage}`)]);
});

test('a change of CORS, of a message or of the RestApi makes a new deployment of the API, and new code does not', () => {
  const deploymentOf = (template: typeof production) => template.idOf('AWS::ApiGateway::Deployment');
  const before = deploymentOf(production);
  // The limit belongs to the stage.
  expect(deploymentOf(templateWith({ requestsPerSecond: 7 }))).toBe(before);
  expect(deploymentOf(templateWith({ allowOrigins: ['https://a.example'] }))).not.toBe(before);
  expect(deploymentOf(withChange('Function', 'Code.S3Key', 'other.zip'))).toBe(before);
  expect(deploymentOf(withChange('Api/RestApi', 'SecurityPolicy', 'TLS_1_2'))).not.toBe(before);
  for (const body of [gatewayResponses.THROTTLED, NOT_FOUND]) {
    const { message } = body;
    try {
      body.message = 'Changed.';
      expect(deploymentOf(synthesize(stackWith()))).not.toBe(before);
    } finally {
      body.message = message;
    }
  }
});
