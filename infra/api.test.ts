import { expect, test } from 'vitest';
import { contractBody } from '../test/support/contract-body.ts';
import { EVERYTHING, stackWith, synthesize, templateWith } from '../test/support/stack.ts';
import { gatewayErrors, NOT_FOUND } from './shared-with-local-run/gateway-errors.ts';

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

test('the function gets each body in base64, because a text would hide bytes that are not UTF-8', () => {
  expect(production.propertiesOf('AWS::ApiGateway::RestApi').BinaryMediaTypes).toEqual(['*/*']);
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

test('for a domain with a certificate, the stack outputs the target of the DNS record that a person creates', () => {
  const certificateArn = 'arn:aws:acm:eu-west-1:123456789012:certificate/1';
  const template = templateWith({ domain: { name: 'plants.example.com', certificateArn } });
  const domain = template.propertiesOf('AWS::ApiGateway::DomainName');
  expect(domain).toMatchObject({ DomainName: 'plants.example.com', RegionalCertificateArn: certificateArn });
  const { ApiUrl, DomainTarget } = template.Outputs;
  expect(ApiUrl).toEqual({ Value: 'https://plants.example.com' });
  expect(DomainTarget).toEqual({ Value: `\${${template.idOf('AWS::ApiGateway::DomainName')}.RegionalDomainName}` });
});

const bodyOf = (StatusCode: string, body: string) =>
  contractBody({ statusCode: Number(StatusCode), headers: { 'content-type': 'application/json' }, body });

/** The headers of API Gateway's own responses. Fixed headers cannot allow several origins. */
const READABLE = {
  'Access-Control-Allow-Origin': "'*'",
  'Access-Control-Expose-Headers': "'x-amz-apigw-id,Retry-After,WWW-Authenticate,x-amzn-Remapped-WWW-Authenticate'",
};
const withPrefix = (prefix: string, headers: object) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${prefix}.header.${name}`, value]));

test.each([
  // All other types get one of the bodies of these two ("Gateway response types for API Gateway").
  ['DEFAULT_4XX', 400, {}],
  ['DEFAULT_5XX', 500, {}],
  ['INTEGRATION_TIMEOUT', 504, {}],
  ['THROTTLED', 429, { 'Retry-After': "'1'" }],
  ['WAF_FILTERED', 429, { 'Retry-After': "'1'" }],
  ['MISSING_AUTHENTICATION_TOKEN', 404, {}],
  ['RESOURCE_NOT_FOUND', 404, {}],
  ['INVALID_SIGNATURE', 404, {}],
  ['UNSUPPORTED_MEDIA_TYPE', 404, {}],
])('the gateway response %s is a 400 with error %i, which the allowed pages can read', (type, error, headers) => {
  const responses = everything.allPropertiesOf('AWS::ApiGateway::GatewayResponse');
  expect(responses.map(({ ResponseType }) => ResponseType)).toContain(type);
  const response = responses.find(({ ResponseType }) => ResponseType === type);
  expect(bodyOf(response.StatusCode, response.ResponseTemplates['application/json'])).toHaveProperty('error', error);
  expect(response.ResponseParameters).toEqual(withPrefix('gatewayresponse', { ...READABLE, ...headers }));
});

/** The responses of the methods without a function, such as `ANY /plants`. */
function mocksOf({ allPropertiesOf, Resources }: typeof production) {
  const methods = allPropertiesOf('AWS::ApiGateway::Method').filter(({ Integration }) => Integration.Type === 'MOCK');
  return methods.map(({ ResourceId, HttpMethod, Integration, MethodResponses }) => {
    const path = Resources[ResourceId.slice(2, -1)]?.['Properties'].PathPart ?? '';
    const [response] = Integration.IntegrationResponses;
    return { name: `${HttpMethod} /${path}`, ...response, integration: Integration, declared: MethodResponses };
  });
}

const ANY = ['ANY /', 'ANY /plants', 'ANY /{proxy+}'];
test.each([
  ['without allowed origins', production, [...ANY, 'OPTIONS /plants'], {}],
  ['with allowed origins', everything, ANY, READABLE],
])('%s, other paths and methods get error 404', (_, template, names, headers) => {
  const notFound = mocksOf(template).filter(({ StatusCode }) => StatusCode !== '200');
  expect(notFound.map(({ name }) => name).sort()).toEqual(names);
  for (const { StatusCode, ResponseTemplates, ResponseParameters } of notFound) {
    expect(bodyOf(StatusCode, ResponseTemplates['application/json'])).toHaveProperty('error', 404);
    expect(ResponseParameters).toEqual(withPrefix('method.response', headers));
  }
});

test('the preflight of /plants allows pages to send a plant with a token', () => {
  const [preflight, ...others] = mocksOf(everything).filter(({ StatusCode }) => StatusCode === '200');
  expect([preflight?.name, others]).toEqual(['OPTIONS /plants', []]);
  const allowed = {
    'Access-Control-Allow-Headers': "'Authorization,Content-Type'",
    'Access-Control-Allow-Methods': "'POST'",
    'Access-Control-Allow-Origin': "'*'",
    'Access-Control-Max-Age': expect.stringMatching(/^'\d+'$/),
  };
  expect(preflight?.ResponseParameters).toEqual(withPrefix('method.response', allowed));
});

test('a method without a function accepts each body, and sends only what it declares', () => {
  for (const { name, integration, declared, ...response } of mocksOf(everything)) {
    const { ContentHandling, PassthroughBehavior, RequestTemplates } = integration;
    // Mapping templates fail on binary bodies, and without NEVER a body of another type fails with error 500.
    const handling = [ContentHandling, response.ContentHandling, PassthroughBehavior];
    expect(handling, name).toEqual(['CONVERT_TO_TEXT', 'CONVERT_TO_TEXT', 'NEVER']);
    const { StatusCode, ResponseParameters } = response;
    expect(JSON.parse(RequestTemplates['application/json']), name).toEqual({ statusCode: Number(StatusCode) });
    const headers = Object.keys(ResponseParameters).map((header) => [header, true]);
    expect(declared, name).toEqual([{ StatusCode, ResponseParameters: Object.fromEntries(headers) }]);
  }
});

test('a web ACL, which costs money, is there only if it is set, protects the API stage, and stores no request', () => {
  expect(production.allPropertiesOf('AWS::WAFv2::WebACL')).toEqual([]);
  const { Scope, DefaultAction, Rules, CustomResponseBodies, VisibilityConfig } =
    everything.propertiesOf('AWS::WAFv2::WebACL');
  const [{ Action, VisibilityConfig: ofRule }] = Rules;
  const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = Action.Block.CustomResponse;
  expect(bodyOf(ResponseCode, CustomResponseBodies[CustomResponseBodyKey].Content)).toHaveProperty('error', 429);
  const headers = { 'Retry-After': expect.stringMatching(/^\d+$/), 'Access-Control-Allow-Origin': '*' };
  const expected = Object.entries(headers).map(([Name, Value]) => ({ Name, Value }));
  expect(ResponseHeaders).toEqual(expect.arrayContaining(expected));
  expect(DefaultAction).toEqual({ Allow: {} });
  // A sampled request would contain the client's token.
  expect([VisibilityConfig.SampledRequestsEnabled, ofRule.SampledRequestsEnabled]).toEqual([false, false]);
  const { ResourceArn } = everything.propertiesOf('AWS::WAFv2::WebACLAssociation');
  expect([Scope, ResourceArn]).toEqual(['REGIONAL', expect.stringContaining(`/restapis/${api}/stages/${stage}`)]);
});

test('a change of a gateway response or of a method makes a new deployment of the API', () => {
  const DEPLOYMENT = 'AWS::ApiGateway::Deployment';
  for (const body of [gatewayErrors.THROTTLED, NOT_FOUND]) {
    const { message } = body;
    try {
      body.message = 'Changed.';
      expect(synthesize(stackWith()).idOf(DEPLOYMENT)).not.toBe(production.idOf(DEPLOYMENT));
    } finally {
      body.message = message;
    }
  }
});
