import { Stack } from 'aws-cdk-lib';
import { EndpointAccessMode, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { errorHeaders } from '../../functions/errors.ts';
import type { Operation } from '../../model/contract.ts';
import { corsHeaders, preflightHeaders } from '../data/cors.ts';
import { gatewayResponses, NOT_FOUND } from '../data/gateway-responses.ts';

/**
 * TLS 1.2 or 1.3 with forward secrecy, for the API and its custom domain ("Security policies for REST APIs"). A change
 * takes about 15 minutes, during which the API serves requests but is UPDATING ("How to change a security policy"): it
 * may reject other changes, so deploy nothing else with it.
 */
export const TLS_1_2_OR_NEWER = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.BASIC,
};

/** An operation and the function or alias that API Gateway invokes for it. */
export interface ApiRoute {
  operation: Operation;
  target: IFunction;
}

/**
 * Returns the whole API as one OpenAPI document ("OpenAPI extensions for API Gateway"). With one CloudFormation
 * resource per method, a removed method would stay deployed: CloudFormation deletes it only after it has made the new
 * deployment.
 *
 * @param name the API's name in the console
 * @param allowOrigins the origins for CORS; without any, no response has CORS headers
 */
export function apiDefinition(name: string, routes: ApiRoute[], allowOrigins: string[]) {
  const headers = corsHeaders(allowOrigins);
  const notFound = mockMethod(400, headers, JSON.stringify(NOT_FOUND));
  const pathItem = (path: string) => {
    const parameters = pathParameters(path);
    const routesOfPath = routes.filter(({ operation }) => operation.path === path);
    const operationMethods = routesOfPath.map(({ operation, target }) => [
      operation.method.toLowerCase(),
      { parameters, ...proxyMethod(target) },
    ]);
    const methods = routesOfPath.map(({ operation }) => operation.method);
    const preflight = methods.length > 0 ? preflightHeaders(methods, allowOrigins) : undefined;
    return {
      ...Object.fromEntries(operationMethods),
      // The status is 200, because the contract has no status 204.
      ...(preflight && { options: { parameters, ...mockMethod(200, preflight) } }),
      // Without this method, API Gateway reads a bearer token as an AWS signature. AWS does not document which gateway
      // response it then sends.
      'x-amazon-apigateway-any-method': { parameters, ...notFound },
    };
  };
  const paths = new Set(['/', '/{proxy+}', ...routes.flatMap(({ operation }) => withParents(operation.path))]);
  return {
    // API Gateway does not import newer versions.
    openapi: '3.0.1',
    // OpenAPI requires a version; API Gateway does not use it.
    info: { title: name, version: '1' },
    paths: Object.fromEntries([...paths].map((path) => [path, pathItem(path)])),
    'x-amazon-apigateway-gateway-responses': gatewayResponsesWith(headers),
    // The function gets bodies as base64. In a text, bytes that are not UTF-8 would become U+FFFD, which it cannot
    // reject.
    'x-amazon-apigateway-binary-media-types': ['*/*'],
    // The RestApi has these two properties too (api.ts). Without them here, the import could reset them.
    'x-amazon-apigateway-security-policy': TLS_1_2_OR_NEWER.securityPolicy,
    'x-amazon-apigateway-endpoint-access-mode': TLS_1_2_OR_NEWER.endpointAccessMode,
  };
}

/** Returns a path and its parents: `/`, `/plants` and `/plants/{id}` for `/plants/{id}`. */
function withParents(path: string): string[] {
  return path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/') || '/');
}

function pathParameters(path: string) {
  const names = path.match(/(?<=\{)\w+/g) ?? [];
  return names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
}

/** A method that invokes the function. */
function proxyMethod(target: IFunction) {
  const { partition, region } = Stack.of(target);
  return {
    responses: { 200: { description: 'Response of the function' } },
    'x-amazon-apigateway-integration': {
      type: 'aws_proxy',
      httpMethod: 'POST',
      uri: `arn:${partition}:apigateway:${region}:lambda:path/2015-03-31/functions/${target.functionArn}/invocations`,
    },
  };
}

/**
 * A method that responds without a function.
 *
 * Mapping templates fail on binary bodies, so the bodies of request and response are converted to text ("Content type
 * conversions in API Gateway"). By default, API Gateway passes on a body whose Content-Type has no template, and the
 * integration would fail. With `never`, it sends the gateway response UNSUPPORTED_MEDIA_TYPE instead ("Method request
 * behavior for payloads without mapping templates for REST APIs in API Gateway").
 */
function mockMethod(statusCode: 200 | 400, headers: Record<string, string>, responseTemplate?: string) {
  const headerSchemas = Object.keys(headers).map((name) => [name, { schema: { type: 'string' } }]);
  return {
    responses: { [statusCode]: { description: 'Response of API Gateway', headers: Object.fromEntries(headerSchemas) } },
    'x-amazon-apigateway-integration': {
      type: 'mock',
      requestTemplates: { 'application/json': JSON.stringify({ statusCode }) },
      passthroughBehavior: 'never',
      contentHandling: 'CONVERT_TO_TEXT',
      responses: {
        default: {
          statusCode: String(statusCode),
          contentHandling: 'CONVERT_TO_TEXT',
          responseParameters: responseParameters('method.response', headers),
          ...(responseTemplate !== undefined && { responseTemplates: { 'application/json': responseTemplate } }),
        },
      },
    },
  };
}

/**
 * Returns the gateway responses for an API definition: status 400 and an Error of the contract.
 *
 * @param headers of each response, beside those of its error
 */
export function gatewayResponsesWith(headers: Record<string, string>) {
  return Object.fromEntries(
    Object.entries(gatewayResponses).map(([type, { error, message }]) => [
      type,
      {
        statusCode: '400',
        responseParameters: responseParameters('gatewayresponse', { ...headers, ...errorHeaders[error] }),
        responseTemplates: { 'application/json': JSON.stringify({ error, message }) },
      },
    ]),
  );
}

/**
 * Returns fixed headers in API Gateway's syntax, such as `{ 'gatewayresponse.header.Retry-After': "'1'" }`.
 *
 * @param prefix `gatewayresponse` or `method.response`
 */
function responseParameters(prefix: string, headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${prefix}.header.${name}`, `'${value}'`]));
}
