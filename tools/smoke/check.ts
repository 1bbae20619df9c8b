import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { TOKEN_PREFIX } from '../../functions/shared/access-tokens/token.ts';
import { TEMPORARY_ERRORS } from '../../functions/shared/errors.ts';
import { parseObject } from '../../functions/shared/parse-object.ts';
import { RESPONSE_MS } from '../../functions/shared/time-limits.ts';
import type { RawResponse } from '../local/proxy-event.ts';
import type { SmokeRequest } from './requests.ts';

const MAX_REPEATS = 3;
const WAIT_MS = 2000;
/** An opaque token, a JWT, and the value of an Authorization header. */
const LIKE_A_TOKEN = new RegExp(`${TOKEN_PREFIX}\\w*|eyJ[\\w.-]*|Bearer [^"]*`, 'gi');

/**
 * Sends a request. Returns what is wrong with the response, and its beginning; undefined if it is as expected.
 *
 * @param token the valid access token, which no response may contain
 */
export async function check(baseUrl: string, request: SmokeRequest, token: string): Promise<string | undefined> {
  try {
    const response = await send(baseUrl, request);
    const { text, headers } = response;
    if (`${text}${Object.values(headers)}`.includes(token)) return 'the response contains the token';
    const problem = problemOf(response, request);
    const start = text.replaceAll(LIKE_A_TOKEN, '…').replaceAll(/\s+/g, ' ').slice(0, 200);
    return problem && `${problem}\n      ${start}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Sends a request. Repeats it up to three times while the response is error 429, 503 or 504. */
async function send(baseUrl: string, request: SmokeRequest, repeats = 0): Promise<RawResponse> {
  const { method, path, headers, body } = request;
  const signal = AbortSignal.timeout(RESPONSE_MS);
  const sent = { method, headers, body: body.length > 0 ? body : null, redirect: 'manual', signal } as const;
  const response = await fetch(baseUrl + path, sent).catch(({ message, cause }: Error) => {
    // The message is often only "fetch failed"; the cause has the reason.
    throw new Error(`there was no response (${String(cause ?? message)})`);
  });
  const text = await response.text();
  if (repeats === MAX_REPEATS || !TEMPORARY_ERRORS.includes(parseObject(text)['error'])) {
    return { status: response.status, headers: Object.fromEntries(response.headers), text };
  }
  await sleep(WAIT_MS);
  return send(baseUrl, request, repeats + 1);
}

/** Returns what is wrong with a response, without any of its text. */
function problemOf({ status, headers, text }: RawResponse, sent: SmokeRequest): string | undefined {
  const body = parseObject(text);
  const actual = `the response was a ${status}${Number.isInteger(body['error']) ? ` with error ${body['error']}` : ''}`;
  if (!/^application\/json(;|$)/i.test(headers['content-type'] ?? '')) {
    return `${actual} with another Content-Type; it must be application/json`;
  }
  if (sent.plant) {
    if (status === 200 && isDeepStrictEqual(body, sent.plant)) return undefined;
    return `${actual}; it must be a 200 with exactly ${JSON.stringify(sent.plant).slice(0, 100)}`;
  }
  const isError = status === 400 && body['error'] === sent.error && typeof body['message'] === 'string';
  if (!isError || Object.keys(body).length !== 2) return `${actual}; it must be a 400 with error ${sent.error}`;
  // RFC 6750, 3: it has an error only if the request has a bearer token.
  const isBearer = /^bearer /i.test(sent.headers['Authorization'] ?? '');
  const challenge = isBearer ? /^Bearer realm="[^"]+", error="invalid_token"$/ : /^Bearer realm="[^"]+"$/;
  // API Gateway renames this header of a function ("Amazon API Gateway important notes").
  const authenticate = headers['x-amzn-remapped-www-authenticate'] ?? headers['www-authenticate'] ?? '';
  if (sent.error === 401 && !challenge.test(authenticate)) return `${actual}; WWW-Authenticate must match ${challenge}`;
  const id = headers['x-amz-apigw-id'];
  return !id || id === sent.headers['x-amz-apigw-id']
    ? `${actual}; x-amz-apigw-id must be the gateway's own`
    : undefined;
}
