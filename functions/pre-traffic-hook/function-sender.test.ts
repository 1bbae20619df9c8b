import { LambdaClient } from '@aws-sdk/client-lambda';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, test } from 'vitest';
import { sampleEvent } from '../../test/support/event.ts';
import { startFakeService } from '../../test/support/fake-service.ts';
import { FUNCTION_ARN, releaseEndpoints, VERSION_ARN } from '../../test/support/release-endpoints.ts';
import { Client, type ClientRequest } from './client.ts';
import { functionSender } from './function-sender.ts';

const RESPONSE = { statusCode: 200, headers: { 'content-type': 'application/json' }, body: '{"name":"x"}' };

/** Sends a request twice to a fake function. Returns both events and the client's response. */
async function sendTwice(request: ClientRequest, resource = '/plants', respond: () => unknown = () => RESPONSE) {
  const events: APIGatewayProxyEvent[] = [];
  const endpoints = releaseEndpoints(FUNCTION_ARN, (event) => {
    events.push(event);
    return respond();
  });
  const endpoint = await startFakeService(endpoints.respond);
  const credentials = { accessKeyId: 'x', secretAccessKey: 'x' };
  const lambda = new LambdaClient({ endpoint, region: 'us-east-1', credentials });
  const client = new Client('the-token', functionSender(lambda, VERSION_ARN, resource));
  const response = await client.sendOnce(request);
  await client.sendOnce(request);
  const [event, next] = events as [APIGatewayProxyEvent, APIGatewayProxyEvent];
  return { event, next, response };
}

/** Returns the type of each member, by path. The type of null is `null`. */
function shapeOf(value: unknown, path = ''): Record<string, string> {
  if (typeof value !== 'object' || value === null) return { [path]: value === null ? 'null' : typeof value };
  return Object.assign({}, ...Object.entries(value).map(([name, member]) => shapeOf(member, `${path}/${name}`)));
}

test('sends the members of API Gateway’s event that a function reads, with new request ids', async () => {
  const { event, next } = await sendTwice({ body: '{"id":1,"name":"x"}' });
  expect(shapeOf(sampleEvent('create-plant'))).toMatchObject(shapeOf(event));
  expect(event).toMatchObject({ resource: '/plants', path: '/plants', httpMethod: 'POST' });
  expect(event.requestContext).toMatchObject({ resourcePath: '/plants', httpMethod: 'POST' });
  const ids = [event, next].flatMap(({ requestContext: { requestId: id, extendedRequestId } }) => [
    id,
    extendedRequestId,
  ]);
  expect(new Set(ids).size).toBe(4);
});

test('sends header names alternately in Title-Case and in lower case', async () => {
  const { event, next } = await sendTwice({ headers: { 'content-type': 'text/plain', 'x-other': 'a-b' }, body: 'x' });
  expect(event.headers).toMatchObject({
    Authorization: 'Bearer the-token',
    'Content-Type': 'text/plain',
    'X-Other': 'a-b',
  });
  expect(next.headers).toMatchObject({
    authorization: 'Bearer the-token',
    'content-type': 'text/plain',
    'x-other': 'a-b',
  });
  expect(event.multiValueHeaders).toMatchObject({ Authorization: ['Bearer the-token'], 'X-Other': ['a-b'] });
});

test.each<[string, ClientRequest, string | null]>([
  ['text as base64', { body: '{"name":"植物"}' }, 'eyJuYW1lIjoi5qSN54mpIn0='],
  ['bytes that are not UTF-8 as base64', { body: Uint8Array.of(0xff, 0x00) }, '/wA='],
  ['an empty body as null', { body: '' }, null],
  ['the body of a GET request as null', { method: 'GET', body: '{}' }, null],
])('sends %s', async (_, request, body) => {
  expect((await sendTwice(request)).event).toMatchObject({ body, isBase64Encoded: body !== null });
});

test.each([
  ['/plants/{id}', '/plants/7', { id: '7' }, null, null],
  ['/beds/{bed_id}/plants/{id}', '/beds/a/plants/7', { bed_id: 'a', id: '7' }, null, null],
  ['/plants', '/plants', null, null, null],
  ['/plants', '/plants?tag=a%20b&tag=c&n=1', null, { tag: 'c', n: '1' }, { tag: ['a b', 'c'], n: ['1'] }],
])('for the resource %s, sends the parameters of %s', async (resource, path, pathParameters, query, multiValue) => {
  const { event } = await sendTwice({ method: 'GET', path }, resource);
  expect(event).toMatchObject({ resource, path: path.split('?')[0], pathParameters });
  expect(event).toMatchObject({ queryStringParameters: query, multiValueQueryStringParameters: multiValue });
});

test.each([
  [
    { ...RESPONSE, headers: { 'Content-Type': 'text/plain', 'Retry-After': 1 } },
    { status: 200, headers: { 'content-type': 'text/plain', 'retry-after': '1' }, text: '{"name":"x"}' },
  ],
  [{ statusCode: 400 }, { status: 400, headers: {}, text: '' }],
  [
    { statusCode: 200, body: 'w6k=', isBase64Encoded: true },
    { status: 200, headers: {}, text: 'é' },
  ],
])('accepts the function’s response %j as API Gateway does', async (returned, response) => {
  expect(await sendTwice({}, '/plants', () => returned)).toMatchObject({ response });
});

test.each([
  null,
  'x',
  { statusCode: '200', body: 'x' },
  { statusCode: 200.5, body: 'x' },
  { statusCode: 200, body: {} },
  { statusCode: 200, headers: { a: {} }, body: '' },
  { statusCode: 200, headers: { a: null }, body: '' },
])('rejects the function’s response %j as API Gateway does', async (returned) => {
  await expect(sendTwice({}, '/plants', () => returned)).rejects.toThrow(
    `${JSON.stringify(returned)}; it must be a proxy response with statusCode, headers and body`,
  );
});

test('throws the first 300 characters of a function’s error', async () => {
  const result = sendTwice({}, '/plants', () => {
    throw new TypeError(`no${'x'.repeat(1000)}`);
  });
  await expect(result).rejects.toThrow(/^the function failed: \{"errorType":"TypeError","errorMessage":"nox{200,260}$/);
});
