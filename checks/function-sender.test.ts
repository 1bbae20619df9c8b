import { LambdaClient } from '@aws-sdk/client-lambda';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, test } from 'vitest';
import { sampleEvent } from '../test/support/event.ts';
import { FUNCTION_ARN, releaseEndpoints, VERSION_ARN } from '../test/support/release-endpoints.ts';
import { startStandIn } from '../test/support/stand-in-service.ts';
import { Client, type ClientRequest } from './client.ts';
import { functionSender } from './function-sender.ts';

const SOUND = { statusCode: 200, headers: { 'content-type': 'application/json' }, body: '{"name":"x"}' };

/** Sends a request to a function that answers so. Returns the event that it got, and the answer as a caller has it. */
async function asked(request: ClientRequest, resource = '/plants', answer: () => unknown = () => SOUND) {
  const events: APIGatewayProxyEvent[] = [];
  const { answerTo } = releaseEndpoints(FUNCTION_ARN, (event) => {
    events.push(event);
    return answer();
  });
  const client = new LambdaClient({
    endpoint: await startStandIn(answerTo),
    region: 'us-east-1',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  });
  const send = functionSender(client);
  const answered = await new Client('the-token', (sent) => send(VERSION_ARN, resource, sent)).sendOnce(request);
  await new Client('the-token', (sent) => send(VERSION_ARN, resource, sent)).sendOnce(request);
  const [event, next] = events as [APIGatewayProxyEvent, APIGatewayProxyEvent];
  return { event, next, answered };
}

/** The types of all members, by their paths: `null` is a type of its own. */
function shapeOf(value: unknown, path = ''): Record<string, string> {
  if (typeof value !== 'object' || value === null) return { [path]: value === null ? 'null' : typeof value };
  return Object.assign({}, ...Object.entries(value).map(([name, member]) => shapeOf(member, `${path}/${name}`)));
}

test('an event is one of the gateway’s, without what no function reads', async () => {
  const { event } = await asked({ body: '{"id":1,"name":"x"}' });
  expect(shapeOf(sampleEvent('create-plant'))).toMatchObject(shapeOf(event));
  expect(event).toMatchObject({ resource: '/plants', path: '/plants', httpMethod: 'POST', pathParameters: null });
  expect(event.requestContext).toMatchObject({ resourcePath: '/plants', httpMethod: 'POST' });
});

test('header names are alternately in Title-Case and in lower case', async () => {
  const { event, next } = await asked({ headers: { 'content-type': 'text/plain', 'x-other': 'a-b' }, body: 'x' });
  expect(event.headers).toEqual({ Authorization: 'Bearer the-token', 'Content-Type': 'text/plain', 'X-Other': 'a-b' });
  expect(next.headers).toEqual({ authorization: 'Bearer the-token', 'content-type': 'text/plain', 'x-other': 'a-b' });
  expect(event.multiValueHeaders).toMatchObject({ Authorization: ['Bearer the-token'], 'X-Other': ['a-b'] });
});

test.each<[string, ClientRequest, string | null]>([
  ['text', { body: '{"name":"植物"}' }, 'eyJuYW1lIjoi5qSN54mpIn0='],
  ['bytes that are no UTF-8', { body: Uint8Array.of(0xff, 0x00) }, '/wA='],
  ['nothing', { body: '' }, null],
  ['what a GET has not', { method: 'GET', body: '{}' }, null],
])('a body of %s is passed on in base64 where there is one', async (_, request, body) => {
  const { event } = await asked(request);
  expect(event).toMatchObject({ body, isBase64Encoded: body !== null });
});

test.each([
  ['/plants/{id}', '/plants/7', { id: '7' }],
  ['/beds/{bed-id}/plants/{id}', '/beds/a/plants/7', { 'bed-id': 'a', id: '7' }],
  ['/plants', '/plants', null],
])('of %s, %s has its path parameters', async (resource, path, pathParameters) => {
  const { event } = await asked({ method: 'GET', path }, resource);
  expect(event).toMatchObject({ resource, path, pathParameters, requestContext: { resourcePath: resource } });
});

test('each request has request ids of its own', async () => {
  const { event, next } = await asked({});
  const ids = [event, next].flatMap(({ requestContext: { requestId, extendedRequestId } }) => [
    requestId,
    extendedRequestId,
  ]);
  expect(new Set(ids).size).toBe(4);
});

test('a response is what API Gateway would pass on, with header names in lower case', async () => {
  const headers = { 'Content-Type': 'application/json', 'Retry-After': 1 };
  const { answered } = await asked({}, '/plants', () => ({ ...SOUND, headers }));
  expect(answered).toEqual({
    status: 200,
    headers: { 'content-type': 'application/json', 'retry-after': '1' },
    text: '{"name":"x"}',
  });
  expect((await asked({}, '/plants', () => ({ statusCode: 400, body: '' }))).answered).toEqual({
    status: 400,
    headers: {},
    text: '',
  });
  const encoded = { statusCode: 200, body: Buffer.from('é').toString('base64'), isBase64Encoded: true };
  expect((await asked({}, '/plants', () => encoded)).answered).toMatchObject({ text: 'é' });
});

test.each<[string, unknown]>([
  ['null', null],
  ['"x"', 'x'],
  ['{"statusCode":"200","body":"x"}', { statusCode: '200', body: 'x' }],
  ['{"statusCode":200}', { statusCode: 200 }],
  ['{"statusCode":200,"body":{}}', { statusCode: 200, body: {} }],
  ['{"statusCode":200,"headers":{"a":{}},"body":""}', { statusCode: 200, headers: { a: {} }, body: '' }],
  ['{"statusCode":200,"headers":{"a":null},"body":""}', { statusCode: 200, headers: { a: null }, body: '' }],
])('the response %s is not one that API Gateway would pass on', async (shown, answer) => {
  await expect(asked({}, '/plants', () => answer)).rejects.toThrow(
    `${shown}; it must be a proxy response with statusCode, headers and body`,
  );
});

test('an error of the function is shown, up to 300 characters', async () => {
  const failed = asked({}, '/plants', () => {
    throw new TypeError(`no${'x'.repeat(1000)}`);
  });
  await expect(failed).rejects.toThrow(/^the function failed: \{"errorType":"TypeError","errorMessage":"nox{200,260}$/);
});
