/** Any response, also one that the contract does not allow. Header names are in lower case. */
export interface RawResponse {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** A request as API Gateway receives it. */
interface GatewayRequest {
  /** The path in the API definition, such as `/plants/{id}`. */
  resource: string;
  method: string;
  /** Without the query. */
  path: string;
  query: string;
  /** Names have the client's casing. */
  headers: [name: string, value: string][];
  body: Uint8Array;
}

/** Returns the path parameters if a path, without a query, matches a resource such as `/plants/{id}` or `/{proxy+}`. */
export function matchPath(path: string, resource: string): Record<string, string> | undefined {
  const literal = resource.replaceAll('.', '\\.');
  const pattern = literal.replaceAll(/\{(\w+)\+\}/g, '(?<$1>.+)').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  // API Gateway ignores a trailing slash.
  const match = new RegExp(`^${pattern}/?$`).exec(path);
  return match ? { ...match.groups } : undefined;
}

/**
 * Returns the event that API Gateway makes of a request, without `requestContext`.
 *
 * Source: "Input format of a Lambda function for proxy integration in API Gateway".
 */
export function proxyEvent({ resource, method, path, query, headers, body }: GatewayRequest) {
  const pathParameters = matchPath(path, resource) ?? {};
  const parameters = [...new URLSearchParams(query)];
  return {
    resource,
    path,
    httpMethod: method,
    headers: Object.fromEntries(headers),
    multiValueHeaders: allValues(headers),
    queryStringParameters: parameters.length > 0 ? Object.fromEntries(parameters) : null,
    multiValueQueryStringParameters: parameters.length > 0 ? allValues(parameters) : null,
    pathParameters: Object.keys(pathParameters).length > 0 ? pathParameters : null,
    stageVariables: null,
    // API Gateway encodes every body, because of the binary media types in infra/api/definition.ts.
    body: body.length > 0 ? Buffer.from(body).toString('base64') : null,
    isBase64Encoded: body.length > 0,
  };
}

function allValues(pairs: [name: string, value: string][]): Record<string, string[]> {
  const groups = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries([...groups].map(([name, group]) => [name, group.map(([, value]) => value)]));
}

/**
 * Returns the HTTP response that API Gateway makes of a function's response, without `multiValueHeaders`. Throws if API
 * Gateway would reject it.
 *
 * Source: "Output format of a Lambda function for proxy integration".
 */
export function proxyResponse(response: unknown): RawResponse {
  const { statusCode, headers, body = '', isBase64Encoded } = (response ?? {}) as Record<string, unknown>;
  const entries = Object.entries(headers ?? {});
  const areScalars = entries.every(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  if (!Number.isInteger(statusCode) || typeof body !== 'string' || !areScalars) {
    const actual = JSON.stringify(response)?.slice(0, 300);
    throw new Error(`${actual}; it must be a proxy response with statusCode, headers and body`);
  }
  return {
    status: Number(statusCode),
    headers: Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)])),
    text: isBase64Encoded ? Buffer.from(body, 'base64').toString() : body,
  };
}
