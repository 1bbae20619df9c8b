import { randomUUID } from 'node:crypto';
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { Caller, type Sent } from '../caller.ts';

/**
 * Who asks a version of an operation's function itself, by the events that the gateway would make of requests. The
 * resource is the operation's path, as in `/plants/{id}`. A request throws what was seen where the function fails, or
 * where its answer has not a proxy response's form.
 *
 * Source: "Output format of a Lambda function for proxy integration" of API Gateway.
 */
export function functionCaller(client: LambdaClient, functionArn: string, resource: string, token: string): Caller {
  return new Caller(token, async (sent) => {
    const { FunctionError, Payload = new Uint8Array() } = await client.send(
      new InvokeCommand({ FunctionName: functionArn, Payload: JSON.stringify(proxyEvent(resource, sent)) }),
    );
    const payload = Buffer.from(Payload).toString();
    if (FunctionError !== undefined) throw new Error(`the function failed: ${payload.slice(0, 300)}`);
    const { statusCode, headers, body } = (JSON.parse(payload) ?? {}) as Record<string, unknown>;
    if (typeof statusCode !== 'number' || typeof body !== 'string') {
      throw new Error(`${payload.slice(0, 300)}; it must be a proxy response with statusCode and body`);
    }
    const named = Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]);
    return { status: statusCode, headers: Object.fromEntries(named), text: body };
  });
}

/**
 * What a function may read of the event that the gateway would make of a request.
 *
 * Source: "Input format of a Lambda function for proxy integration" of API Gateway.
 */
function proxyEvent(resource: string, { method, path, headers: sent, body }: Sent) {
  // The gateway keeps a caller's casing: this is curl's, where fetch has all in lower case.
  const headers = Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name.replaceAll(/\b[a-z]/g, (first) => first.toUpperCase()), value]),
  );
  const values = path.split('/');
  const parameters = resource
    .split('/')
    .map((part, index) => [/^\{(.+)\}$/.exec(part)?.[1], values[index]])
    .filter(([name]) => name !== undefined);
  return {
    resource,
    path,
    httpMethod: method,
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: parameters.length > 0 ? Object.fromEntries(parameters) : null,
    stageVariables: null,
    requestContext: {
      httpMethod: method,
      path,
      resourcePath: resource,
      requestId: randomUUID(),
      extendedRequestId: randomUUID(),
    },
    // The gateway passes every body on as base64 (binaryMediaTypes in infra/api.ts).
    body: body.length > 0 ? Buffer.from(body).toString('base64') : null,
    isBase64Encoded: body.length > 0,
  };
}
