import type { APIGatewayProxyEvent } from 'aws-lambda';
import { beforeEach, expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { contractBody } from '../../test/support/contract.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith, eventWith, handlerOf } from '../../test/support/event.ts';
import { bodyOf, plantWith, untaggedPlantWith } from '../../test/support/plant.ts';
import { fc, int64, text } from '../../test/support/property.ts';
import { DEVELOPMENT_TOKEN } from '../../tools/local/development-token.ts';
import { digestOf } from '../shared/access-tokens/token.ts';

const engine = closedAtEnd(await startEngine());
// The module reads its environment when it is loaded.
const handler = handlerOf(await import('./index.ts'));

let log: string[] = [];
beforeEach(() => {
  log = [];
  for (const level of ['info', 'error'] as const) {
    vi.spyOn(console, level).mockImplementation((line) => void log.push(JSON.stringify(line)));
  }
  return () => vi.restoreAllMocks();
});

async function responseTo(event: unknown) {
  const { statusCode, headers, body } = await handler(event, contextWith());
  return contractBody({ statusCode, headers: headers ?? {}, body });
}
const responseToBody = (body: string | null) => responseTo(eventWith({ body }));

/** An id outside of 400,000 to 500,000, which other tests use, and a JSON number with this value. */
const writtenId = fc
  .oneof(
    int64.map((id) => ({ id, json: `${id}` })),
    fc.integer().map((id) => ({ id: BigInt(id), json: `${id}.0` })),
    fc.nat({ max: 9 }).map((id) => ({ id: BigInt(id) * 1000n, json: `${id}e3` })),
  )
  .filter(({ id }) => id < 400_000n || id > 500_000n);
/** A JSON string with each character escaped. */
const escaped = (content: string) =>
  `"${Array.from({ length: content.length }, (_, at) => `\\u${content.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;

/** The JSON of the members of a plant that the next test does not choose, each with a comma. */
const OTHER_MEMBERS = Object.entries(untaggedPlantWith())
  .filter(([name]) => name !== 'name')
  .map((member) => `${member.map((part) => JSON.stringify(part)).join(':')},`)
  .join('');

test('stores any NewPlant exactly, in any notation of its JSON, and responds with its name and tag', async () => {
  const stored = new Map<bigint, string>();
  await fc.assert(
    fc.asyncProperty(writtenId, text, fc.option(text, { nil: undefined }), async ({ id, json }, name, tag) => {
      const members = `"name":${JSON.stringify(name)}${tag === undefined ? '' : `\t,\n"tag" : ${escaped(tag)}`}`;
      const body = `\n{${OTHER_MEMBERS}"id":"overruled","x":[{}],"constructor":2,${members},"id": ${json}}`;
      const response = await responseToBody(body);
      if (stored.has(id) && stored.get(id) !== members) {
        expect(response['error']).toBe(409);
        return;
      }
      stored.set(id, members);
      const plant = { ...untaggedPlantWith({ name }), ...(tag !== undefined && { tag }) };
      expect(response).toEqual(plant);
      expect(await engine.stored(id)).toEqual({ id: String(id), ...plant });
    }),
  );
});

test('responds to any token, media type and body with a success or a client error', async () => {
  const nearPlant = fc.record(
    { id: fc.oneof(fc.integer(), fc.jsonValue()), name: fc.oneof(text, fc.jsonValue()), tag: fc.jsonValue() },
    { requiredKeys: [] },
  );
  const body = fc.oneof(
    text,
    fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
    fc.json(),
    nearPlant.map((value) => JSON.stringify(value)),
    fc.constant(null),
  );
  const valid = eventWith({}).headers;
  const bearerToken = fc.base64String().map((token) => `Bearer ${token}`);
  const usually = (value: string | undefined, ...others: fc.Arbitrary<string>[]) =>
    fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, fc.string(), ...others);
  const headers = fc.record({
    Authorization: usually(valid['Authorization'], bearerToken),
    'Content-Type': usually(valid['Content-Type']),
  });
  const event = fc.record({ body, headers, isBase64Encoded: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(event, async (changes) => {
      const { error } = await responseTo(eventWith(changes));
      expect([undefined, 400, 401, 409, 413, 415]).toContain(error);
    }),
  );
});

test.each([null, undefined, 7, 'event', [], {}, { headers: null }, { headers: 7 }, { headers: { authorization: 7 } }])(
  'responds with an Error to the invalid event %j',
  async (event) => {
    expect(await responseTo(event)).toHaveProperty('error');
  },
);

test('accepts a name of 400 KB with every character escaped', async () => {
  const plant = plantWith({ name: 'a'.repeat(400_000) });
  const response = await responseToBody(bodyOf(400_000, plant).replaceAll('aa', '\\u0061\\u0061'));
  expect(response).toEqual(plant);
});

test('checks the token before the body', async () => {
  const response = await responseTo(eventWith({ headers: { 'Content-Type': 'text/plain' }, body: '{' }));
  expect(response).toMatchObject({ error: 401 });
});

test('ignores the case of header names, the scheme and the media type', async () => {
  const headers = { AUTHORIZATION: `bEaReR ${DEVELOPMENT_TOKEN}`, 'CONTENT-type': 'APPLICATION/json ; charset=utf-8' };
  expect(await responseTo(eventWith({ headers, body: bodyOf(414_141) }))).toEqual(plantWith());
});

test('never logs a token, a digest or a body, and never responds with a token', async () => {
  const secretToken = `plantstore_${'S'.repeat(43)}`;
  const digests = [digestOf(DEVELOPMENT_TOKEN), digestOf(secretToken)];
  const secrets = [DEVELOPMENT_TOKEN, secretToken, ...digests, 'secret plant'];
  const events: Partial<APIGatewayProxyEvent>[] = [
    {},
    { body: '{"id":1,"name":"a secret plant"' },
    { body: '{"id":"a secret plant","name":7}' },
    { body: bodyOf(1, plantWith({ name: 'a secret plant' })) },
    { headers: { Authorization: `Bearer ${secretToken}` } },
    { headers: { Authorization: `Basic ${secretToken}` } },
  ];
  for (const changes of events) {
    expect(JSON.stringify(await responseTo(eventWith(changes)))).not.toContain(secretToken);
  }
  expect(log).toHaveLength(events.length);
  for (const secret of secrets) expect(log.join()).not.toContain(secret);
});

test.each(['PLANTS_TABLE_NAME', 'ACCESS_TOKENS_TABLE_NAME'])('fails at init without %s', async (name) => {
  vi.resetModules();
  vi.stubEnv(name, '');
  await expect(import('./index.ts')).rejects.toThrow(
    `The environment variable ${name} is missing: it must be set by the stack.`,
  );
  vi.unstubAllEnvs();
});

test('allows pages of the configured origins to read a success and an error', async () => {
  vi.resetModules();
  vi.stubEnv('ALLOW_ORIGINS', 'https://a.example,https://b.example');
  const { handler: corsHandler } = await import('./index.ts');
  vi.unstubAllEnvs();
  const allowedOrigin = async (origin: string, body: string) => {
    const event = eventWith({ headers: { ...eventWith({}).headers, Origin: origin }, body });
    const { headers } = await corsHandler(event as never, contextWith());
    expect(headers?.['Access-Control-Expose-Headers']).toContain('x-amz-apigw-id');
    return headers?.['Access-Control-Allow-Origin'];
  };
  for (const body of [bodyOf(444_444), '{']) {
    expect(await allowedOrigin('https://a.example', body)).toBe('https://a.example');
    expect(await allowedOrigin('https://b.example', body)).toBe('https://b.example');
    expect(await allowedOrigin('https://c.example', body)).toBeUndefined();
  }
});
