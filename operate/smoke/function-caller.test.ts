import { LambdaClient } from '@aws-sdk/client-lambda';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, test } from 'vitest';
import { sampleEvent } from '../../test/support/event.ts';
import { releaseEndpoints, VERSION_ARN } from '../../test/support/release-endpoints.ts';
import { startStandIn } from '../../test/support/stand-in-service.ts';
import type { Request } from '../caller.ts';
import { functionCaller } from './function-caller.ts';

const SOUND = { statusCode: 200, headers: { 'content-type': 'application/json' }, body: '{"name":"x"}' };

/** Sends a request to a function that answers so. Returns the event that it got, and the answer as a caller has it. */
async function asked(request: Request, resource = '/plants', answer: () => unknown = () => SOUND) {
  const events: APIGatewayProxyEvent[] = [];
  const { answerTo } = releaseEndpoints(VERSION_ARN, (event) => {
    events.push(event);
    return answer();
  });
  const client = new LambdaClient({
    endpoint: await startStandIn(answerTo),
    region: 'us-east-1',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  });
  const answered = await functionCaller(client, VERSION_ARN, resource, 'the-token').exchange(request);
  expect(events).toHaveLength(1);
  return { event: events[0] as APIGatewayProxyEvent, answered };
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

test('the headers are those of the request, their names in the casing of a caller’s', async () => {
  const { event } = await asked({ headers: { 'content-type': 'text/plain', 'x-other': 'a-b' }, body: 'x' });
  expect(event.headers).toEqual({
    Authorization: 'Bearer the-token',
    'Content-Type': 'text/plain',
    'X-Other': 'a-b',
  });
  expect(event.multiValueHeaders).toMatchObject({ Authorization: ['Bearer the-token'], 'X-Other': ['a-b'] });
});

test.each<[string, Request, string | null]>([
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
  const ids = [];
  for (let times = 0; times < 2; times += 1) {
    const { requestId, extendedRequestId } = (await asked({})).event.requestContext;
    ids.push(requestId, extendedRequestId);
  }
  expect(new Set(ids).size).toBe(4);
});

test('an answer is what the gateway would pass on, the names of its headers in lower case', async () => {
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
});

test.each<[string, unknown]>([
  ['null', null],
  ['"x"', 'x'],
  ['{"statusCode":"200","body":"x"}', { statusCode: '200', body: 'x' }],
  ['{"statusCode":200}', { statusCode: 200 }],
  ['{"statusCode":200,"body":{}}', { statusCode: 200, body: {} }],
])('the answer %s is none that the gateway would pass on', async (shown, answer) => {
  await expect(asked({}, '/plants', () => answer)).rejects.toThrow(
    `${shown}; it must be a proxy response with statusCode and body`,
  );
});

test('what the function fails with is seen, not at length', async () => {
  const failed = asked({}, '/plants', () => {
    throw new TypeError(`no${'x'.repeat(1000)}`);
  });
  await expect(failed).rejects.toThrow(/^the function failed: \{"errorType":"TypeError","errorMessage":"nox{200,260}$/);
});
