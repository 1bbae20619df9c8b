import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { JWT_PATTERN, TOKEN_FORM, TOKEN_PATTERN, UNKNOWN_TOKEN } from '../functions/tokens/token.ts';
import { DEVELOPMENT_TOKEN } from './local/development-token.ts';
import { printable } from './printable.ts';

/*
 * Sends requests to a running service, and checks the responses (docs/operations.md, "Smoke test"). It can have a token
 * of production, so it imports no package, and prints no plant and no error of `fetch`, which can contain the token. A
 * failed assertion prints what it compares, so the assertions compare only error numbers and booleans.
 */

/*
 * The plants that the checks send. For a new required member, or a constraint that rejects a plant, change only this
 * block. On AWS, nothing else checks that strings are stored exactly, so PLANT has a letter of two code points, one
 * beyond U+FFFF, characters that JSON escapes, and spaces at both ends. Its first member must be a required one. If the
 * contract has no optional member, or allows no plant of more than 399 KB, write `undefined`, which leaves out its check.
 */
const PLANT = { name: 'smoke test', tag: ' e\u0301🌱"\\\u0000\u2028 ' };
const OTHER = { ...PLANT, name: 'smoke test 2' };
const WITHOUT_OPTIONAL: object | undefined = { ...PLANT, tag: undefined };
const TOO_LARGE: object | undefined = { ...PLANT, tag: 'x'.repeat(410_000) };

/** A correct service responds within this time: 6 s for the database, and 2 s for init. */
const RESPONSE_MS = 8000;

const USAGE = `Usage: npm run smoke

Sends requests to a service, and checks the responses. By default it is the local run, at PORT. Another service needs
its URL in PLANT_STORE_URL and an access token in PLANT_STORE_TOKEN. PLANT_STORE_WAIT is the number of seconds to wait
for its first response, by default 0. With another text in PLANT_STORE_SEED, it creates other plants. The file .env can
set these variables too.`;

if (process.argv.includes('--help')) {
  console.log(USAGE);
  process.exit();
}
// The argument is not printed, because it can be a token.
if (process.argv.length > 2) stop(`The smoke test has no arguments.\n\n${USAGE}`);
if (existsSync('.env')) process.loadEnvFile();
const { PLANT_STORE_URL, PLANT_STORE_TOKEN, PLANT_STORE_WAIT = '0', PLANT_STORE_SEED = '', PORT } = process.env;
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

const digest = hash('sha256', token + JSON.stringify([PLANT, OTHER]) + PLANT_STORE_SEED, 'buffer');
/**
 * The first id: a hash of the token, the plants and the seed, so that each run with these creates the same plants. It is
 * between 2^63 - 2^52 and 2^63, where a client's id is unlikely. Doubles of this size are 1,024 apart, so a service
 * that rounds ids confuses this id with the next one.
 */
const id = 2n ** 63n - 2n ** 52n + (digest.readBigUInt64BE() >> 22n) * 1024n + 1n;
const JSON_TYPE = { 'Content-Type': 'application/json' };
const bearer = (value: string) => ({ ...JSON_TYPE, Authorization: `Bearer ${value}` });
/** The body of a NewPlant. `JSON.stringify` cannot write a bigint. */
const bodyOf = (plantId: bigint, plant: object) => `{"id":${plantId},${JSON.stringify(plant).slice(1)}`;
const body = bodyOf(id, PLANT);

await waitForService();
console.log(`Smoke test of ${host} with the plants ${id}, ${id + 1n} and ${-id}`);

test('creates a plant', () => creates(id, PLANT));
test('creates the same plant again', () => creates(id, PLANT));
test('rejects another plant with its id', () => rejects(409, { body: bodyOf(id, OTHER) }));
if (WITHOUT_OPTIONAL) {
  test('rejects the plant without its optional member', () => rejects(409, { body: bodyOf(id, WITHOUT_OPTIONAL) }));
}
test('keeps apart two ids beyond 2^53 that differ by one', () => creates(id + 1n, OTHER));
test('keeps apart an id and its negative', () => creates(-id, OTHER));

// Their id is in use, so a service that wrongly accepts one of these stores nothing. They come after requests with a
// valid token, because a broken cache would accept any token after a valid one.
test('rejects a request without a token, before it reads the body', () =>
  rejects(401, { body: '{', headers: JSON_TYPE }));
test('rejects an unknown token', () => rejects(401, { body, headers: bearer(UNKNOWN_TOKEN) }));
if (baseUrl.startsWith('https:')) {
  test('rejects the development token', () => rejects(401, { body, headers: bearer(DEVELOPMENT_TOKEN) }));
}
test('rejects an id above int64', () => rejects(400, { body: bodyOf(id + 2n ** 53n, PLANT) }));
test('rejects a body that is not UTF-8', () =>
  rejects(400, { body: Buffer.from(body).map((byte) => (byte < 0x80 ? byte : 0xff)) }));
if (TOO_LARGE) test('rejects more than 399 KB', () => rejects(413, { body: bodyOf(id, TOO_LARGE) }));
test('returns error 404 for an unknown path', () => rejects(404, { body }, '/none'));
test('returns error 404 for an unknown method', () => rejects(404, { body, method: 'PATCH' }));

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
      const advice = PLANT_STORE_URL ? '' : ' Start npm start first, or set PLANT_STORE_URL and PLANT_STORE_TOKEN.';
      if (Date.now() >= end) stop((thrown as Error).message + advice);
      await sleep(5000);
    }
  }
}

async function creates(plantId: bigint, plant: object): Promise<void> {
  const { error, members, result } = await send({ body: bodyOf(plantId, plant) });
  // The other checks would only say the same.
  if (error === 401) stop(`${host} rejects the access token: it is unknown, expired or revoked, or lacks the scope.`);
  assert.equal(error, undefined, `${result}; expected the plant.`);
  assert.ok(isDeepStrictEqual(members, plant), 'The response must be a 200 with exactly the plant.');
}

async function rejects(expected: number, request: RequestInit, path?: string): Promise<void> {
  const { error, result } = await send(request, path);
  assert.equal(error, expected, `${result}; expected error ${expected}.`);
}

/** Sends a request, and repeats it as openapi.yaml says. Throws if the response is not one of the contract. */
async function send(request: RequestInit, path = '/plants', repeats = 3) {
  const { status, members } = await exchange(path, request);
  const { error, message } = members;
  const [requiredMember = ''] = Object.keys(PLANT);
  if (repeats > 0 && (status >= 500 || [429, 500, 503, 504].includes(Number(error)))) {
    await sleep(2000);
    return send(request, path, repeats - 1);
  }
  if (status === 200 && requiredMember in members) return { members, result: 'The service responded with a plant' };
  if (status !== 400 || !Number.isInteger(error) || typeof message !== 'string' || Object.keys(members).length !== 2) {
    throw new Error(`The response has the status ${status}, and is not one of the contract.`);
  }
  // In any encoding, a token has more characters without a space.
  const said = /\S{30}/.test(message)
    ? '(hidden: it can contain the token)'
    : printable(JSON.stringify(message.slice(0, 200)));
  return { error, members, result: `The service responded with error ${error} and the message ${said}` };
}

/** Throws an error of its own, because that of `fetch` can contain a header, or what was received. */
async function exchange(path: string, request: RequestInit) {
  const signal = AbortSignal.timeout(RESPONSE_MS);
  const defaults = { method: 'POST', headers: bearer(token), redirect: 'manual', signal } as const;
  try {
    const response = await fetch(baseUrl + path, { ...defaults, ...request });
    const isJson = /^application\/json(;|$)/i.test(response.headers.get('content-type') ?? '');
    const text = await response.text();
    return { status: response.status, members: isJson ? parseObject(text) : {} };
  } catch (thrown) {
    const { name, cause } = thrown as Error;
    throw new Error(`There is no response from ${host} (${Object(cause).code ?? name}).`);
  }
}

/** Parses a JSON object. Never throws, because the error would quote the text. */
function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
