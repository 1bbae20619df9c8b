import {
  ContentHandling,
  type IResource,
  MockIntegration,
  PassthroughBehavior,
  ResponseType,
  type RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { errorHeaders } from '../functions/errors.ts';
import { type ErrorBody, gatewayErrors } from './shared-with-local-run/gateway-errors.ts';

export function addGatewayResponses(restApi: RestApi, headers: Record<string, string>): void {
  for (const [type, { error, message }] of Object.entries<ErrorBody>(gatewayErrors)) {
    restApi.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: '400',
      responseHeaders: quoted({ ...errorHeaders[error], ...headers }),
      templates: { 'application/json': JSON.stringify({ error, message }) },
    });
  }
}

/**
 * Adds a method that responds without a function.
 *
 * Mapping templates fail on binary bodies, so the bodies of request and response are converted to text ("Content type
 * conversions in API Gateway"). CDK's own preflights do not do this, and fail with error 500 (aws-cdk #18297).
 *
 * By default, API Gateway passes on a body whose Content-Type has no template, and the integration would fail. With
 * NEVER, it sends the gateway response UNSUPPORTED_MEDIA_TYPE instead ("Method request behavior for payloads without
 * mapping templates for REST APIs in API Gateway").
 */
export function addMock(
  resource: IResource,
  method: 'ANY' | 'OPTIONS',
  status: 200 | 400,
  headers: Record<string, string>,
  body?: ErrorBody,
): void {
  const names = Object.keys(headers).map((name) => `method.response.header.${name}`);
  const integration = new MockIntegration({
    requestTemplates: { 'application/json': JSON.stringify({ statusCode: status }) },
    passthroughBehavior: PassthroughBehavior.NEVER,
    contentHandling: ContentHandling.CONVERT_TO_TEXT,
    integrationResponses: [
      {
        statusCode: String(status),
        contentHandling: ContentHandling.CONVERT_TO_TEXT,
        responseParameters: quoted(headers, 'method.response.header.'),
        ...(body && { responseTemplates: { 'application/json': JSON.stringify(body) } }),
      },
    ],
  });
  // API Gateway sends only the statuses and headers that the method declares.
  const responseParameters = Object.fromEntries(names.map((name) => [name, true]));
  resource.addMethod(method, integration, { methodResponses: [{ statusCode: String(status), responseParameters }] });
}

/** Returns fixed headers in API Gateway's syntax: each value in quotation marks, because others are expressions. */
function quoted(headers: Record<string, string>, prefix = ''): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${prefix}${name}`, `'${value}'`]));
}
