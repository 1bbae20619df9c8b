import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { JWT_PATTERN, TOKEN_FORM, TOKEN_PATTERN, UNKNOWN_TOKEN } from '../../functions/tokens/token.ts';
import { DEVELOPMENT_TOKEN } from '../../tools/local/development-token.ts';

/*
 * Sends requests to a running service, and checks the responses (docs/operations.md, "Smoke test"). It can have a token
 * of production, so it imports no package. It prints no plant and no error of `fetch`, because both can contain the
 * token. The assertions compare only error numbers and booleans, because a failed assertion prints what it compares.
 */

/*
 * What the checks send. If a constraint of the contract rejects it, change only these three. The texts of PLANT have a
 * letter of two code points, one beyond U+FFFF, characters that JSON escapes, and spaces at both ends: on AWS, nothing
 * else checks that they are stored exactly. Both members of OTHER differ from those of PLANT. LONG_MEMBER accepts any
 * letters, so with it a plant can exceed 399 KB. If no member does, delete that check.
 */
const PLANT = { name: 'smoke test', tag: ' e\u0301🌱"\\\u0000\u2028 ' };
const OTHER = { name: 'smoke test 2', tag: 'other' };
const LONG_MEMBER = 'tag';

const MAX_RESPONSE_BYTES = 1_000_000;
/** A correct service responds within this time: 6 s for the database, and 2 s for init. */
const RESPONSE_MS = 8000;
const START_FIRST = 'Start npm start first, or set PLANT_STORE_URL and PLANT_STORE_TOKEN.';

const USAGE = `Usage: npm run smoke

Sends requests to a service, and checks the responses. By default it is the local run, at PORT. Another service needs
its URL in PLANT_STORE_URL and an access token in PLANT_STORE_TOKEN. PLANT_STORE_WAIT is the number of seconds to wait
for its first response, by default 0. The file .env can set these variables too.`;

if (process.argv.includes('--help')) {
  console.log(USAGE);
  process.exit();
}
// The argument is not printed, because it can be a token.
if (process.argv.length > 2) stop(`The smoke test has no arguments.\n\n${USAGE}`);
if (existsSync('.env')) process.loadEnvFile();
const { PLANT_STORE_URL, PLANT_STORE_TOKEN, PLANT_STORE_WAIT = '0', PORT } = process.env;
if (PLANT_STORE_TOKEN && !PLANT_STORE_URL) {
  stop('PLANT_STORE_TOKEN is set, but PLANT_STORE_URL is not. Set both, or none of them for the local run.');
}
const baseUrl = checkedUrl(PLANT_STORE_URL || `http://127.0.0.1:${PORT || 3000}`);
const { host } = new URL(baseUrl);
const token = PLANT_STORE_URL ? (PLANT_STORE_TOKEN ?? '') : DEVELOPMENT_TOKEN;
if (!TOKEN_PATTERN.test(token) && !JWT_PATTERN.test(token)) {
  stop(`PLANT_STORE_TOKEN must be an access token: ${TOKEN_FORM}, or a JWT.`);
}
if (!/^\d{1,4}$/.test(PLANT_STORE_WAIT)) stop('PLANT_STORE_WAIT must be a number of seconds, from 0 to 9999.');

/**
 * The first id: a hash of the token and of what is sent, so that each run with both creates the same plants. It is
 * between 2^63 - 2^52 and 2^63, where a client's id is unlikely. Doubles of this size are 1,024 apart, so a service that
 * rounds ids confuses this id with the next one.
 */
const digest = hash('sha256', token + JSON.stringify([PLANT, OTHER]), 'buffer');
const id = 2n ** 63n - 2n ** 52n + (digest.readBigUInt64BE() >> 22n) * 1024n + 1n;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const bearer = (value: string) => ({ ...JSON_TYPE, Authorization: `Bearer ${value}` });

/** Parses a JSON object. Never throws, because the error would quote the text. */
function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

await waitForService();
console.log(`Smoke test of ${host} with the plants ${id}, ${id + 1n} and ${-id}`);

test('creates a plant', () => creates(id, PLANT));
test('creates the same plant again', () => creates(id, PLANT));
test('rejects another name', () => rejects(409, { body: bodyOf({ name: OTHER.name }) }));
test('rejects the same plant without its tag', () => rejects(409, { body: bodyOf({ tag: undefined }) }));
test('keeps apart two ids beyond 2^53 that differ by one', () => creates(id + 1n, { ...PLANT, tag: OTHER.tag }));
test('keeps apart an id and its negative', () => creates(-id, { ...PLANT, tag: OTHER.tag }));

// Their id is in use, so a service that wrongly accepts one of these stores nothing. They come after requests with a
// valid token, because a broken cache would accept any token after a valid one.
test('rejects a request without a token, before it reads the body', () =>
  rejects(401, { body: '{', headers: JSON_TYPE }));
test('rejects an unknown token', () => rejects(401, { body: bodyOf(), headers: bearer(UNKNOWN_TOKEN) }));
if (baseUrl.startsWith('https:')) {
  test('rejects the development token', () => rejects(401, { body: bodyOf(), headers: bearer(DEVELOPMENT_TOKEN) }));
}
test('rejects an id above int64', () => rejects(400, { body: bodyOf({}, id + 2n ** 53n) }));
test('rejects a body that is not UTF-8', () =>
  rejects(400, { body: Buffer.from(bodyOf()).map((byte) => (byte < 0x80 ? byte : 0xff)) }));
test('rejects more than 399 KB', () => rejects(413, { body: bodyOf({ [LONG_MEMBER]: 'x'.repeat(410_000) }) }));
test('returns error 404 for an unknown path', () => rejects(404, { body: bodyOf() }, '/none'));
test('returns error 404 for an unknown method', () => rejects(404, { body: bodyOf(), method: 'PATCH' }));

/** Prints a sentence and ends the process. */
function stop(sentence: string): never {
  console.error(sentence);
  process.exit(1);
}

function checkedUrl(text: string): string {
  const { protocol = '', hostname = '', username, password, origin, pathname } = URL.parse(text) ?? {};
  // Over http, others on the network could read the token.
  const isSafe = protocol === 'https:' || /^http:(127\.0\.0\.1|localhost|\[::1\])$/.test(protocol + hostname);
  if (isSafe && !username && !password) return `${origin}${pathname}`.replace(/\/+$/, '');
  stop('PLANT_STORE_URL must be an https URL, or http to 127.0.0.1, localhost or [::1], without a name or password.');
}

/** Waits for a response of the contract. Before that it sends no token, because the host may be another one. */
async function waitForService(): Promise<void> {
  const end = Date.now() + Number(PLANT_STORE_WAIT) * 1000;
  for (;;) {
    try {
      await send({ headers: {} });
      return;
    } catch (thrown) {
      const { message } = thrown as Error;
      if (Date.now() >= end) stop(PLANT_STORE_URL ? message : `${message} ${START_FIRST}`);
      await sleep(5000);
    }
  }
}

/** Returns the body of the first plant with other members or another id. `JSON.stringify` cannot write a bigint. */
function bodyOf(changes: object = {}, plantId = id): string {
  return `{"id":${plantId},${JSON.stringify({ ...PLANT, ...changes }).slice(1)}`;
}

async function creates(plantId: bigint, plant: object): Promise<void> {
  const { error, body, result } = await send({ body: bodyOf(plant, plantId) });
  // The other checks would only say the same.
  if (error === 401) stop(`${host} rejects the access token: it is unknown, expired or revoked, or lacks the scope.`);
  assert.equal(error, undefined, `${result}; expected the plant.`);
  assert.ok(isDeepStrictEqual(body, plant), 'The response must be a 200 with exactly the plant.');
}

async function rejects(expected: number, request: RequestInit, path?: string): Promise<void> {
  const { error, result } = await send(request, path);
  assert.equal(error, expected, `${result}; expected error ${expected}.`);
}

/** Sends a request, and repeats it as openapi.yaml says. Throws if the response is not one of the contract. */
async function send(request: RequestInit, path = '/plants', repeats = 3) {
  const { status, headers, text } = await fetchText(path, request);
  const body = /^application\/json(;|$)/i.test(headers.get('content-type') ?? '') ? parseObject(text) : {};
  const { error, message, name } = body;
  if (repeats > 0 && (status >= 500 || [429, 500, 503, 504].includes(Number(error)))) {
    await sleep(2000);
    return send(request, path, repeats - 1);
  }
  if (status === 200 && typeof name === 'string') return { body, result: 'The service responded with a plant' };
  if (status !== 400 || !Number.isInteger(error) || typeof message !== 'string' || Object.keys(body).length !== 2) {
    throw new Error(`The response has the status ${status}, and is not one of the contract.`);
  }
  // In any encoding, a token has more characters without a space.
  const said = /\S{30}/.test(message) ? '(hidden: it can contain the token)' : JSON.stringify(message.slice(0, 200));
  return { error, body, result: `The service responded with error ${error} and the message ${said}` };
}

/** Throws an error of its own, because that of `fetch` can contain a header, or what was received. */
async function fetchText(path: string, request: RequestInit) {
  try {
    const signal = AbortSignal.timeout(RESPONSE_MS);
    const defaults = { method: 'POST', headers: bearer(token), redirect: 'manual', signal } as const;
    const response = await fetch(baseUrl + path, { ...defaults, ...request });
    let bytes = Buffer.alloc(0);
    for await (const chunk of response.body ?? []) {
      bytes = Buffer.concat([bytes, chunk]);
      if (bytes.length > MAX_RESPONSE_BYTES) break;
    }
    return { status: response.status, headers: response.headers, text: bytes.toString() };
  } catch (thrown) {
    const { name, cause } = thrown as Error;
    throw new Error(`There is no response from ${host} (${Object(cause).code ?? name}).`);
  }
}
