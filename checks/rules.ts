import type { Answer, Request, Service } from './service.ts';

/** A rule of the contract that a caller can see. */
export interface Rule {
  rule: string;
  /** Throws what was seen instead where the rule does not hold. */
  check: (service: Service) => Promise<void>;
}

/** All plants that the rules leave behind have one of these ids, and are the same each time. */
export const HIGHEST_ID = 9223372036854775807n;
export const LOWEST_ID = -9223372036854775808n;
export const LEFT_BEHIND = `${HIGHEST_ID - 999n} to ${HIGHEST_ID}, and ${LOWEST_ID}`;

/** What no caller can bring about. */
export const NOT_CHECKED = [429, 500, 503, 504];

interface Expected {
  error: number;
  /** What the message must name. */
  names?: string[];
}

const id = (offset: number) => HIGHEST_ID - BigInt(offset);
const UNKNOWN_TOKEN = `plantstore_${'0'.repeat(43)}`;
const MEGABYTE = 1024 * 1024;

const created = (rule: string, body: string, plant: { name: string; tag?: string }, request: Request = {}): Rule => ({
  rule: `${rule} is a 200`,
  check: async (service) => mustBe(await service.send({ ...request, body }), { status: 200, plant }),
});

const refused = (rule: string, request: Request, { error, names = [] }: Expected): Rule => ({
  rule: `${rule} is error ${error}${names.length > 0 ? `, its message names ${names.join(' and ')}` : ''}`,
  check: async (service) => {
    const answer = await service.send(request);
    mustBe(answer, { status: 400, error }, names);
    if (JSON.stringify(answer).includes(service.token)) throw new Error('the token stands in the answer');
  },
});

/** In this order, from the first that a caller would try. */
export const rules: Rule[] = [
  created('a plant', `{"id":${id(1)},"name":"smoke","tag":"check"}`, { name: 'smoke', tag: 'check' }),
  created('the same plant again', `{"id":${id(1)},"name":"smoke","tag":"check"}`, { name: 'smoke', tag: 'check' }),
  created('a plant without a tag, answered without one,', `{"id":${id(2)},"name":"smoke"}`, { name: 'smoke' }),
  created('an empty name with an empty tag', `{"id":${id(3)},"name":"","tag":""}`, { name: '', tag: '' }),
  created('the highest int64 as id', `{"id":${HIGHEST_ID},"name":"highest"}`, { name: 'highest' }),
  created('the lowest int64 as id', `{"id":${LOWEST_ID},"name":"lowest"}`, { name: 'lowest' }),
  created(
    'any Unicode in name and tag',
    JSON.stringify({ name: '🌱"\\\u0000\u2028é', tag: '植物\n' }).replace('{', `{"id":${id(4)},`),
    {
      name: '🌱"\\\u0000\u2028é',
      tag: '植物\n',
    },
  ),
  created('a plant with other members, which are ignored,', `{"id":${id(5)},"name":"smoke","colour":{"red":[1]}}`, {
    name: 'smoke',
  }),
  {
    rule: 'ten creations of one plant at once are ten times a 200',
    check: async (service) => {
      const send = () => service.send({ body: `{"id":${id(6)},"name":"at once"}` });
      for (const answer of await Promise.all(Array.from({ length: 10 }, send))) {
        mustBe(answer, { status: 200, plant: { name: 'at once' } });
      }
    },
  },
  {
    rule: 'a different plant under an id in use is error 409, and changes nothing',
    check: async (service) => {
      const first = `{"id":${id(7)},"name":"first"}`;
      mustBe(await service.send({ body: first }), { status: 200, plant: { name: 'first' } });
      for (const other of ['"name":"second"', '"name":"first","tag":"x"', '"name":""']) {
        mustBe(await service.send({ body: `{"id":${id(7)},${other}}` }), { status: 400, error: 409 });
      }
      mustBe(await service.send({ body: first }), { status: 200, plant: { name: 'first' } });
    },
  },

  refused('no Authorization header', { headers: { authorization: '' }, body: '{}' }, { error: 401 }),
  refused('another scheme', { headers: { authorization: 'Basic cGxhbnQ6c3RvcmU=' }, body: '{}' }, { error: 401 }),
  refused('a token of another form', { headers: { authorization: 'Bearer secret' }, body: '{}' }, { error: 401 }),
  refused('an unknown token', { headers: { authorization: `Bearer ${UNKNOWN_TOKEN}` }, body: '{}' }, { error: 401 }),
  {
    rule: 'a refused token is not told back',
    check: async (service) => {
      const answer = await service.send({ headers: { authorization: `Bearer ${UNKNOWN_TOKEN}` }, body: '{}' });
      if (JSON.stringify(answer).includes(UNKNOWN_TOKEN))
        throw new Error(`${shown(answer)}; the token must not stand there`);
    },
  },
  refused('a missing token, whatever the body,', { headers: { authorization: '' }, body: 'no JSON' }, { error: 401 }),
  {
    rule: 'the scheme "bearer" in lower case is a 200',
    check: async (service) => {
      const headers = { authorization: `bearer ${service.token}` };
      const answer = await service.send({ headers, body: `{"id":${id(1)},"name":"smoke","tag":"check"}` });
      mustBe(answer, { status: 200, plant: { name: 'smoke', tag: 'check' } });
    },
  },

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
  refused(
    'text/plain',
    { headers: { 'content-type': 'text/plain' }, body: `{"id":${id(8)},"name":"x"}` },
    { error: 415 },
  ),
  ...['application/json; charset=utf-8', 'Application/JSON', 'application/json ;charset=UTF-8'].map((contentType) =>
    created(
      `the Content-Type ${contentType}`,
      `{"id":${id(2)},"name":"smoke"}`,
      { name: 'smoke' },
      { headers: { 'content-type': contentType } },
    ),
  ),

  ...['/', '/plant', '/plants/1', '/plants/x/y'].map((path) =>
    refused(`POST ${path}`, { path, body: '{}' }, { error: 404 }),
  ),
  ...['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => refused(`${method} /plants`, { method }, { error: 404 })),

  refused('a plant of over 400 KB', { body: `{"id":${id(8)},"name":"${'x'.repeat(410_000)}"}` }, { error: 413 }),
  refused('a body of 7 MB', { body: `{"id":${id(8)},"name":"${'x'.repeat(7 * MEGABYTE)}"}` }, { error: 413 }),
];

function mustBe(
  answer: Answer,
  expected: { status: 200; plant: object } | { status: 400; error: number },
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

function shown(answer: Answer): string {
  return JSON.stringify(answer).slice(0, 300);
}

/** In JSON, its members in one order. */
function shownPlant(plant: { name?: string; tag?: string }): string {
  return JSON.stringify([plant.name, plant.tag]);
}
