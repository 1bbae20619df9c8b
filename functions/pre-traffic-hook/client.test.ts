import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import { Client, type ClientRequest, parseResponse, type SentRequest } from './client.ts';
import type { RawResponse } from './proxy-event.ts';

vi.mock('node:timers/promises', { spy: true });
beforeEach(() => void vi.mocked(sleep).mockReset().mockResolvedValue(undefined));

/** A client that gets these responses, the last one again and again, and the requests that it sends. */
function clientWith(...responses: RawResponse[]) {
  const sent: SentRequest[] = [];
  const client = new Client('the-token', async (request) => {
    sent.push(request);
    return (responses.length > 1 ? responses.shift() : responses[0]) as RawResponse;
  });
  return { client, sent };
}

const JSON_TYPE = { 'content-type': 'application/json' };
const OK: RawResponse = { status: 200, headers: JSON_TYPE, text: '{"name":"x"}' };
const throttled = (headers = {}): RawResponse => {
  return { status: 400, headers: { ...JSON_TYPE, ...headers }, text: '{"error":429,"message":"x"}' };
};

test.each([
  ['3', 3000],
  ['0', 1000],
  ['86400', 10_000],
  ['Wed, 21 Oct 2026 07:28:00 GMT', 1000],
  ['3 s', 1000],
  [undefined, 1000],
])('repeats a request that is throttled with Retry-After %s after %d ms', async (retryAfter, ms) => {
  const { client } = clientWith(throttled(retryAfter && { 'retry-after': retryAfter }), OK);
  expect(await client.send({ body: '{}' })).toMatchObject({ status: 200, body: { name: 'x' } });
  expect(vi.mocked(sleep).mock.calls).toEqual([[ms]]);
});

test('gives up after five repeats of a throttled request', async () => {
  const { client, sent } = clientWith(throttled());
  expect(await client.send({ body: '{}' })).toMatchObject({ status: 400, error: 429 });
  expect(sent).toHaveLength(6);
});

const HEADERS = { authorization: 'Bearer the-token', 'content-type': 'application/json' };

test.each<[string, ClientRequest, Partial<SentRequest>]>([
  [
    'a POST of JSON to /plants with the token by default',
    { body: '{}' },
    { method: 'POST', path: '/plants', headers: HEADERS, body: Buffer.from('{}') },
  ],
  [
    'the method, path, headers and body of the request',
    { method: 'PUT', path: '/a/b', headers: { authorization: 'Basic x', 'x-other': 'y' }, body: Uint8Array.of(0xff) },
    {
      method: 'PUT',
      path: '/a/b',
      headers: { ...HEADERS, authorization: 'Basic x', 'x-other': 'y' },
      body: Buffer.of(0xff),
    },
  ],
  ['no empty header', { headers: { authorization: '', 'content-type': '' } }, { headers: {} }],
  ['no body by default', {}, { body: Buffer.of() }],
  ['no body with a GET', { method: 'GET', body: '{}' }, { method: 'GET', body: new Uint8Array() }],
])('sends %s', async (_, request, expected) => {
  const { client, sent } = clientWith(OK);
  expect(await client.sendOnce(request)).toBe(OK);
  expect(sent).toEqual([expect.objectContaining(expected)]);
});

const NOT_ALLOWED = 'it must be a 200 or a 400 with exactly the members that openapi.yaml defines';
const NOT_JSON_TYPE = 'the Content-Type must be application/json';

test.each([
  ['all members', 200, 'application/json', '{"name":"x","tag":""}', undefined],
  ['a missing member', 200, 'application/json', '{"tag":"x"}', NOT_ALLOWED],
  ['an additional member', 200, 'application/json', '{"name":"x","id":1}', NOT_ALLOWED],
  ['an error without a message', 400, 'application/json', '{"error":409}', NOT_ALLOWED],
  ['an error with an additional member', 400, 'application/json', '{"error":409,"message":"x","id":1}', NOT_ALLOWED],
  ['an error number of the wrong type', 400, 'application/json', '{"error":"409","message":"x"}', NOT_ALLOWED],
  ['a message of the wrong type', 400, 'application/json', '{"error":409,"message":7}', NOT_ALLOWED],
  ['null as error', 400, 'application/json', 'null', NOT_ALLOWED],
  ['the body of a plant', 400, 'application/json', '{"name":"x"}', NOT_ALLOWED],
  ['another status', 201, 'application/json', '{"name":"x"}', NOT_ALLOWED],
  ['an int32', 400, 'application/json', '{"error":2147483647,"message":"x"}', undefined],
  ['a negative int32', 400, 'application/json', '{"error":-2147483647,"message":"x"}', undefined],
  ['more than an int32', 400, 'application/json', '{"error":2147483648,"message":"x"}', NOT_ALLOWED],
  ['less than an int32', 400, 'application/json', '{"error":-2147483649,"message":"x"}', NOT_ALLOWED],
  ['an empty message', 400, 'application/json', '{"error":409,"message":""}', NOT_ALLOWED],
  ['no JSON', 200, 'application/json', '{"name":"x"', 'the body must be JSON'],
  ['a charset', 200, 'Application/JSON; charset=utf-8', '{"name":"x"}', undefined],
  ['a longer media type', 200, 'application/json-patch', '{"name":"x"}', NOT_JSON_TYPE],
  ['a prefixed media type', 200, 'xapplication/json', '{"name":"x"}', NOT_JSON_TYPE],
  ['another media type', 200, 'text/html', '{"name":"x"}', NOT_JSON_TYPE],
  ['no Content-Type', 200, undefined, '{"name":"x"}', NOT_JSON_TYPE],
])('checks a response with %s: %s, %s, %s; %s', (_, status, contentType, body, problem) => {
  const parse = () => parseResponse(status, contentType, body);
  if (problem) return expect(parse).toThrow(`${status}, ${contentType ?? 'no Content-Type'}, ${body}; ${problem}`);
  const parsed = JSON.parse(body);
  expect(parse()).toEqual(status === 200 ? { status, body: parsed } : { status, ...parsed });
});

test('shows an invalid response in one line, shortened and without control characters', () => {
  const page = `<html>\r\n\t<h1>Bad \u001b[31m\u009bgateway</h1>${'x'.repeat(500)}`;
  expect(() => parseResponse(502, 'text/html', page)).toThrow(
    /^502, text\/html, <html> <h1>Bad \[31m gateway<\/h1>x{150,200}; the Content-Type must be application\/json$/,
  );
});

test('accepts the response of the operation that the request calls', () => {
  const parse = (request: ClientRequest) => () => parseResponse(200, 'application/json', OK.text, request);
  expect(parse({ method: 'POST', path: '/plants' })()).toEqual({ status: 200, body: { name: 'x' } });
  for (const other of [
    { method: 'GET', path: '/plants' },
    { method: 'POST', path: '/plants/1' },
  ]) {
    expect(parse(other)).toThrow(NOT_ALLOWED);
  }
});
