import type { Answer, Plant, Request, Service } from './service.ts';

/** A rule of the contract that a caller can see. */
export interface Rule {
  rule: string;
  /** Whether it holds only where plants can be created. */
  creates?: boolean;
  /** Throws what was seen instead where the rule does not hold; Taken where that cannot be seen. */
  check: (service: Service) => Promise<void>;
}

/** Different plants hold all ids that a rule may use. */
export class Taken extends Error {
  constructor(ids: bigint[]) {
    const several = ids.length > 1;
    const held = several
      ? `the ids ${ids.join(', ')} are in use by different plants`
      : `the id ${ids[0]} is in use by a different plant`;
    super(`${held}; leave it so, or delete ${several ? 'one of them' : 'it'} from the table to have this rule checked`);
  }
}

/** All plants that the rules leave behind have one of these ids, and are the same each time. */
export const HIGHEST_ID = 9223372036854775807n;
const LOWEST_ID = -9223372036854775808n;
export const LEFT_BEHIND = `${HIGHEST_ID - 999n} to ${HIGHEST_ID}, and ${LOWEST_ID}`;

/** What no caller can bring about. */
export const NOT_CHECKED = [429, 500, 503, 504];

interface Expected {
  error: number;
  /** What the message must name. */
  names?: string[];
}

const id = (offset: number) => HIGHEST_ID - BigInt(offset);
/** A rule's own id, and where that is taken, the others that it tries in this order. */
const idsOf = (offset: number) => [0, 100, 200, 300, 400].map((further) => id(offset + further));
const UNKNOWN_TOKEN = `plantstore_${'0'.repeat(43)}`;
/** A UUID, since API Gateway overlooks any other in x-amzn-RequestId ("Access logging for REST APIs"). */
const CHOSEN_ID = '00000000-0000-4000-8000-000000000000';
const MEGABYTE = 1024 * 1024;
/** OPTIONS is apart: a preflight may be answered. */
const METHODS_BUT_POST = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'];
/** How a request may be sent that asks for what is missing: none of it may tell. By turns, so that a smoke stays short. */
const WAYS: [way: string, request: Request][] = [
  ['as JSON', { body: '{}' }],
  ['as text without a token', { headers: { authorization: '', 'content-type': 'text/plain' }, body: 'x' }],
  ['as a form', { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'id=1&name=x' }],
  ['as bytes', { headers: { 'content-type': 'application/octet-stream' }, body: Uint8Array.of(0xff, 0x00) }],
  ['without Content-Type and token', { headers: { authorization: '', 'content-type': '' }, body: '{}' }],
];
const SMOKE_PLANT = { name: 'smoke', tag: 'check' };

interface Creation {
  headers?: Record<string, string>;
  /** Members that a plant has not. */
  others?: object;
  /** How many times it is sent at once; once by default. */
  atOnce?: number;
}

/**
 * Creates a plant under the first of the ids that no different plant holds, and the same once more.
 * Returns that id.
 */
async function create(service: Service, ids: bigint[], plant: Plant, creation: Creation = {}): Promise<bigint> {
  const { headers = {}, others = {}, atOnce = 1 } = creation;
  for (const candidate of ids) {
    const body = JSON.stringify({ ...plant, ...others }).replace('{', `{"id":${candidate},`);
    const send = () => service.send({ headers, body });
    const answers = await Promise.all(Array.from({ length: atOnce }, send));
    if (answers.every(isConflict)) continue;
    // A service that refuses a plant of its own the second time would else pass for one with ids that are taken.
    for (const answer of [...answers, await send()]) mustBe(answer, { status: 200, plant });
    return candidate;
  }
  throw new Taken(ids);
}

const created = (
  rule: string,
  ids: bigint[],
  plant: Plant,
  creation: (service: Service) => Creation = () => ({}),
): Rule => ({
  rule: `${rule} is a 200, and again`,
  creates: true,
  check: async (service) => void (await create(service, ids, plant, creation(service))),
});

const refused = (rule: string, request: Request, { error, names = [] }: Expected): Rule => ({
  rule: `${rule} is error ${error}${names.length > 0 ? `, its message names ${names.join(' and ')}` : ''}`,
  check: async (service) => {
    const answer = await service.send(request);
    mustBe(answer, { status: 400, error }, names);
    if (JSON.stringify(answer).includes(service.token)) throw new Error('the token stands in the answer');
  },
});

/** RFC 6750, 3: an error stands in the challenge only where a bearer token was sent. */
const unauthorized = (rule: string, authorization: string): Rule => {
  const error = authorization.startsWith('Bearer ') ? 'error="invalid_token"' : 'no error';
  return {
    rule: `${rule} is error 401, its challenge a Bearer realm with ${error}`,
    check: async (service) => {
      const answer = await service.send({ headers: { authorization }, body: '{}' });
      mustBe(answer, { status: 400, error: 401 });
      const { headers } = answer;
      // A REST API's proxy integration renames it ("Amazon API Gateway important notes").
      const challenge = headers['www-authenticate'] ?? headers['x-amzn-remapped-www-authenticate'] ?? '';
      const [told] = /\berror="?[^",]*"?/.exec(challenge) ?? ['no error'];
      if (!/^Bearer .*\brealm="[^"]+"/i.test(challenge) || told !== error) {
        throw new Error(`WWW-Authenticate is "${challenge}"; it must be Bearer realm="..." with ${error}`);
      }
    },
  };
};

/** The first method is sent in the way of that number, each further one in the next way. */
const missing = (path: string, methods: string[], firstWay: number): Rule => ({
  rule: `${path} by ${methods.join(', ')}, however sent, is error 404`,
  check: async (service) => {
    const ask = async (request: Request) => {
      // The answer to a HEAD has no body (RFC 9110, 9.3.2).
      if (request.method !== 'HEAD') return mustBe(await service.send(request), { status: 400, error: 404 });
      const { status } = await service.exchange(request);
      if (status !== 400) throw new Error(`status ${status}; it must be 400`);
    };
    for (const [index, method] of methods.entries()) {
      const [way, request] = WAYS[(firstWay + index) % WAYS.length] ?? ['', {}];
      await ask({ ...request, method, path }).catch((error: Error) => {
        throw new Error(`${method} ${way}: ${error.message}`);
      });
    }
  },
});

/** In this order, from the first that a caller would try. */
export const rules: Rule[] = [
  created('a plant', idsOf(1), SMOKE_PLANT),
  created('a plant without a tag, answered without one,', idsOf(2), { name: 'smoke' }),
  created('an empty name with an empty tag', idsOf(3), { name: '', tag: '' }),
  created('the highest int64 as id', [HIGHEST_ID], { name: 'highest' }),
  created('the lowest int64 as id', [LOWEST_ID], { name: 'lowest' }),
  created('any Unicode in name and tag', idsOf(4), { name: '🌱"\\\u0000\u2028é', tag: '植物\n' }),
  created('a plant with other members, which are ignored,', idsOf(5), { name: 'smoke' }, () => ({
    others: { colour: { red: [1] } },
  })),
  created('one plant ten times at once', idsOf(6), { name: 'at once' }, () => ({ atOnce: 10 })),
  {
    rule: 'a different plant under an id in use is error 409, and changes nothing',
    creates: true,
    check: async (service) => {
      const first = { name: 'first' };
      const held = await create(service, idsOf(7), first);
      for (const other of ['"name":"second"', '"name":"first","tag":"x"', '"name":""']) {
        mustBe(await service.send({ body: `{"id":${held},${other}}` }), { status: 400, error: 409 });
      }
      mustBe(await service.send({ body: `{"id":${held},"name":"first"}` }), { status: 200, plant: first });
    },
  },

  unauthorized('no Authorization header', ''),
  unauthorized('another scheme', 'Basic cGxhbnQ6c3RvcmU='),
  unauthorized('a token of another form', 'Bearer secret'),
  unauthorized('an unknown token', `Bearer ${UNKNOWN_TOKEN}`),
  {
    rule: 'a refused token is not told back',
    check: async (service) => {
      const answer = await service.send({ headers: { authorization: `Bearer ${UNKNOWN_TOKEN}` }, body: '{}' });
      if (JSON.stringify(answer).includes(UNKNOWN_TOKEN))
        throw new Error(`${shown(answer)}; the token must not stand there`);
    },
  },
  refused('a missing token, whatever the body,', { headers: { authorization: '' }, body: 'no JSON' }, { error: 401 }),
  created('the scheme "bearer" in lower case', idsOf(1), SMOKE_PLANT, ({ token }) => ({
    headers: { authorization: `bearer ${token}` },
  })),

  refused('a body that is no JSON', { body: '{"id":' }, { error: 400 }),
  refused('an empty body', { body: '' }, { error: 400 }),
  refused('null', { body: 'null' }, { error: 400 }),
  refused('a list', { body: `[{"id":${id(8)},"name":"x"}]` }, { error: 400 }),
  refused('an empty object', { body: '{}' }, { error: 400, names: ['id', 'name'] }),
  refused('a missing id', { body: '{"name":"x"}' }, { error: 400, names: ['id'] }),
  refused('a missing name', { body: `{"id":${id(8)}}` }, { error: 400, names: ['name'] }),
  refused('an id in quotes', { body: `{"id":"${id(8)}","name":"x"}` }, { error: 400, names: ['id'] }),
  refused('null as id', { body: '{"id":null,"name":"x"}' }, { error: 400, names: ['id'] }),
  refused('an id with a fraction', { body: '{"id":9223372036854775000.5,"name":"x"}' }, { error: 400, names: ['id'] }),
  refused(
    'an id over the highest int64',
    { body: '{"id":9223372036854775808,"name":"x"}' },
    { error: 400, names: ['id'] },
  ),
  refused(
    'an id under the lowest int64',
    { body: '{"id":-9223372036854775809,"name":"x"}' },
    { error: 400, names: ['id'] },
  ),
  refused(
    'an id beyond 2^53 that is not in plain digits',
    { body: '{"id":9.2233720368547758e18,"name":"x"}' },
    { error: 400, names: ['id'] },
  ),
  refused('a number as name', { body: `{"id":${id(8)},"name":7}` }, { error: 400, names: ['name'] }),
  refused('null as name', { body: `{"id":${id(8)},"name":null}` }, { error: 400, names: ['name'] }),
  refused('a number as tag', { body: `{"id":${id(8)},"name":"x","tag":7}` }, { error: 400, names: ['tag'] }),
  refused('null as tag', { body: `{"id":${id(8)},"name":"x","tag":null}` }, { error: 400, names: ['tag'] }),
  refused('a lone surrogate', { body: `{"id":${id(8)},"name":"\\ud800"}` }, { error: 400, names: ['name'] }),
  refused(
    'bytes that are no UTF-8',
    { body: Uint8Array.from(Buffer.from(`{"id":${id(8)},"name":"\xff"}`, 'latin1')) },
    { error: 400 },
  ),
  // Without a name nothing is stored, and an id that is well is not complained of.
  ...['7.0', '-0', '1e2'].map((number) => ({
    rule: `${number} is an id`,
    check: async (service: Service) => {
      const answer = await service.send({ body: `{"id":${number}}` });
      mustBe(answer, { status: 400, error: 400 }, ['name']);
      if (answer.status === 400 && /\bid\b/.test(answer.message))
        throw new Error(`${shown(answer)}; it must not name id`);
    },
  })),

  refused('no Content-Type', { headers: { 'content-type': '' }, body: `{"id":${id(8)},"name":"x"}` }, { error: 415 }),
  ...[
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/problem+json',
    'application/vnd.api+json',
  ].map((contentType) =>
    refused(
      `the Content-Type ${contentType}`,
      { headers: { 'content-type': contentType }, body: `{"id":${id(8)},"name":"x"}` },
      { error: 415 },
    ),
  ),
  {
    rule: 'bytes that are no UTF-8, sent as application/vnd.api+json, is error 415, and nothing is stored',
    creates: true,
    check: async (service) => {
      const ids = idsOf(9);
      const headers = { 'content-type': 'application/vnd.api+json' };
      for (const candidate of ids) {
        const bytes = Uint8Array.from(Buffer.from(`{"id":${candidate},"name":"\xff"}`, 'latin1'));
        mustBe(await service.send({ headers, body: bytes }), { status: 400, error: 415 });
        const after = await service.send({ body: `{"id":${candidate},"name":"after"}` });
        if (!isConflict(after)) return mustBe(after, { status: 200, plant: { name: 'after' } });
      }
      // Decoding puts U+FFFD in place of such bytes: a plant of that name there would be they.
      mustBe(await service.send({ body: `{"id":${ids.at(-1)},"name":"\ufffd"}` }), { status: 400, error: 409 });
      throw new Taken(ids);
    },
  },
  ...[
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json ;charset=UTF-8',
    'APPLICATION/JSON ; charset="utf-8"; version=1',
  ].map((contentType) =>
    created(`the Content-Type ${contentType}`, idsOf(2), { name: 'smoke' }, () => ({
      headers: { 'content-type': contentType },
    })),
  ),

  ...['/', '/plant', '/plants/1', '/none/a/b'].map((path, index) =>
    missing(path, ['POST', 'OPTIONS', ...METHODS_BUT_POST], index),
  ),
  missing('/plants', METHODS_BUT_POST, 1),
  {
    rule: 'OPTIONS /plants is error 404, or a preflight that lets pages of other origins create plants',
    check: async (service) => {
      const headers = { origin: 'https://app.example.com', 'access-control-request-method': 'POST' };
      const request = { method: 'OPTIONS', headers: { authorization: '', 'content-type': '', ...headers } };
      const preflight = await service.exchange(request);
      if (preflight.status === 200 && /\bPOST\b/.test(preflight.headers['access-control-allow-methods'] ?? '')) return;
      mustBe(await service.send(request), { status: 400, error: 404 });
    },
  },

  {
    rule: 'each answer has a request id of its own (x-amz-apigw-id), which no caller chooses',
    check: async (service) => {
      const seen = new Set<string | undefined>([undefined, '', CHOSEN_ID]);
      const requests: Request[] = [
        { body: `{"id":${id(1)},"name":"smoke","tag":"check"}` },
        { body: '{}' },
        { headers: { authorization: '' }, body: '{}' },
        { headers: { 'content-type': 'text/plain' }, body: '{}' },
        { path: '/none', body: '{}' },
      ];
      for (const request of requests) {
        const headers = { 'x-amzn-requestid': CHOSEN_ID, 'x-amz-apigw-id': CHOSEN_ID, ...request.headers };
        const answer = await service.send({ ...request, headers });
        const requestId = answer.headers['x-amz-apigw-id'];
        if (seen.has(requestId)) {
          throw new Error(
            `${shown(answer)} has x-amz-apigw-id ${requestId ?? 'missing'}; each answer must have its own`,
          );
        }
        seen.add(requestId);
      }
    },
  },

  refused('a plant of over 400 KB', { body: `{"id":${id(8)},"name":"${'x'.repeat(410_000)}"}` }, { error: 413 }),
  refused('a body of 7 MB', { body: `{"id":${id(8)},"name":"${'x'.repeat(7 * MEGABYTE)}"}` }, { error: 413 }),
];

function isConflict(answer: Answer): boolean {
  return answer.status === 400 && answer.error === 409;
}

function mustBe(
  answer: Answer,
  expected: { status: 200; plant: Plant } | { status: 400; error: number },
  names: string[] = [],
): void {
  const alike =
    answer.status === 200
      ? expected.status === 200 && shownPlant(answer.plant) === shownPlant(expected.plant)
      : expected.status === 400 && answer.error === expected.error;
  if (!alike) throw new Error(`${shown(answer)}; it must be ${JSON.stringify(expected)}`);
  for (const name of names) {
    const named = answer.status === 400 && new RegExp(`\\b${name}\\b`).test(answer.message);
    if (!named) throw new Error(`${shown(answer)}; the message must name ${name}`);
  }
}

function shown({ headers: _, ...said }: Answer): string {
  return JSON.stringify(said).slice(0, 300);
}

/** In JSON, its members in one order. */
function shownPlant(plant: Plant): string {
  return JSON.stringify([plant.name, plant.tag]);
}
