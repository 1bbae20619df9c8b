import { type Caller, isError, type Plant } from '../caller.ts';
import { mustBe, namedIn, ownRequestIds, type Rule, refused, shown } from './rule.ts';

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

const id = (offset: number) => HIGHEST_ID - BigInt(offset);
/** A rule's own id, and where that is taken, the others that it tries in this order. */
const idsOf = (offset: number) => [0, 100, 200, 300, 400].map((further) => id(offset + further));
const SMOKE_PLANT = { name: 'smoke', tag: 'check' };
const OTHER_MEMBERS = { colour: { red: [1] } };

/** A plant whose name has a byte that no UTF-8 has. */
const notUtf8 = (plantId: bigint) => Uint8Array.from(Buffer.from(`{"id":${plantId},"name":"\xff"}`, 'latin1'));

interface Creation {
  /** Of the Authorization header. */
  scheme?: string;
  contentType?: string;
  /** Members that a plant has not. */
  others?: object;
  /** How many times it is sent at once; once by default. */
  atOnce?: number;
}

/**
 * Creates a plant under the first of the ids that no different plant holds, and the same once more.
 * Returns that id.
 */
async function create(caller: Caller, ids: bigint[], plant: Plant, creation: Creation = {}): Promise<bigint> {
  const { scheme = 'Bearer', contentType = 'application/json', others = {}, atOnce = 1 } = creation;
  const headers = { authorization: `${scheme} ${caller.token}`, 'content-type': contentType };
  for (const candidate of ids) {
    const body = JSON.stringify({ ...plant, ...others }).replace('{', `{"id":${candidate},`);
    const send = () => caller.send({ headers, body });
    const answers = await Promise.all(Array.from({ length: atOnce }, send));
    if (answers.every((answer) => isError(answer, 409))) continue;
    // A service that refuses a plant of its own the second time would else pass for one with ids that are taken.
    for (const answer of [...answers, await send()]) mustBe(answer, { status: 200, plant });
    return candidate;
  }
  throw new Taken(ids);
}

const created = (rule: string, ids: bigint[], plant: Plant, creation?: Creation): Rule => ({
  rule: `${rule} is a 200, and again`,
  creates: true,
  check: async (caller) => void (await create(caller, ids, plant, creation)),
});

/** In this order, from the first that a caller would try. */
export const createPlantRules: Rule[] = [
  created('a plant', idsOf(1), SMOKE_PLANT),
  created('a plant without a tag, answered without one,', idsOf(2), { name: 'smoke' }),
  created('an empty name with an empty tag', idsOf(3), { name: '', tag: '' }),
  created('the highest int64 as id', [HIGHEST_ID], { name: 'highest' }),
  created('the lowest int64 as id', [LOWEST_ID], { name: 'lowest' }),
  created('any Unicode in name and tag', idsOf(4), { name: '🌱"\\\u0000\u2028é', tag: '植物\n' }),
  created('a plant with other members, which are ignored,', idsOf(5), { name: 'smoke' }, { others: OTHER_MEMBERS }),
  created('one plant ten times at once', idsOf(6), { name: 'at once' }, { atOnce: 10 }),
  {
    rule: 'a different plant under an id in use is error 409, and changes nothing',
    creates: true,
    check: async (caller) => {
      const first = { name: 'first' };
      const held = await create(caller, idsOf(7), first);
      for (const other of ['"name":"second"', '"name":"first","tag":"x"', '"name":""']) {
        mustBe(await caller.send({ body: `{"id":${held},${other}}` }), { status: 400, error: 409 });
      }
      mustBe(await caller.send({ body: `{"id":${held},"name":"first"}` }), { status: 200, plant: first });
    },
  },

  created('the scheme "bearer" in lower case', idsOf(1), SMOKE_PLANT, { scheme: 'bearer' }),

  refused('null', { body: 'null' }, 400),
  refused('a list', { body: `[{"id":${id(8)},"name":"x"}]` }, 400),
  refused('an empty object', { body: '{}' }, 400, 'id', 'name'),
  refused('a missing id', { body: '{"name":"x"}' }, 400, 'id'),
  refused('a missing name', { body: `{"id":${id(8)}}` }, 400, 'name'),
  refused('an id in quotes', { body: `{"id":"${id(8)}","name":"x"}` }, 400, 'id'),
  refused('null as id', { body: '{"id":null,"name":"x"}' }, 400, 'id'),
  refused('an id with a fraction', { body: '{"id":9223372036854775000.5,"name":"x"}' }, 400, 'id'),
  refused('an id over the highest int64', { body: '{"id":9223372036854775808,"name":"x"}' }, 400, 'id'),
  refused('an id under the lowest int64', { body: '{"id":-9223372036854775809,"name":"x"}' }, 400, 'id'),
  refused('an id beyond 2^53 with an exponent', { body: '{"id":9.2233720368547758e18,"name":"x"}' }, 400, 'id'),
  refused('a number as name', { body: `{"id":${id(8)},"name":7}` }, 400, 'name'),
  refused('null as name', { body: `{"id":${id(8)},"name":null}` }, 400, 'name'),
  refused('a number as tag', { body: `{"id":${id(8)},"name":"x","tag":7}` }, 400, 'tag'),
  refused('null as tag', { body: `{"id":${id(8)},"name":"x","tag":null}` }, 400, 'tag'),
  refused('a lone surrogate', { body: `{"id":${id(8)},"name":"\\ud800"}` }, 400, 'name'),
  refused('bytes that are no UTF-8', { body: notUtf8(id(8)) }, 400),
  // Without a name nothing is stored, and an id that is well is not complained of.
  ...['7.0', '-0', '1e2'].map((number) => ({
    rule: `${number} is an id`,
    check: async (caller: Caller) => {
      const answer = await caller.send({ body: `{"id":${number}}` });
      mustBe(answer, { status: 400, error: 400 });
      if (namedIn(answer, 'name') && !namedIn(answer, 'id')) return;
      throw new Error(`${shown(answer)}; the message must name name, and not id`);
    },
  })),

  {
    rule: 'bytes that are no UTF-8, sent as application/vnd.api+json, is error 415, and nothing is stored',
    creates: true,
    check: async (caller) => {
      const ids = idsOf(9);
      const headers = { 'content-type': 'application/vnd.api+json' };
      for (const candidate of ids) {
        mustBe(await caller.send({ headers, body: notUtf8(candidate) }), { status: 400, error: 415 });
        const after = await caller.send({ body: `{"id":${candidate},"name":"after"}` });
        if (!isError(after, 409)) return mustBe(after, { status: 200, plant: { name: 'after' } });
      }
      // Decoding puts U+FFFD in place of such bytes: a plant of that name there would be they.
      mustBe(await caller.send({ body: `{"id":${ids[0]},"name":"\ufffd"}` }), { status: 400, error: 409 });
      throw new Taken(ids);
    },
  },
  ...[
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json ;charset=UTF-8',
    'APPLICATION/JSON ; charset="utf-8"; version=1',
  ].map((contentType) => created(`the Content-Type ${contentType}`, idsOf(2), { name: 'smoke' }, { contentType })),

  ownRequestIds('each answer to a plant', [
    { body: `{"id":${id(1)},"name":"smoke","tag":"check"}` },
    { body: '{}' },
    { headers: { 'content-type': 'text/plain' }, body: '{}' },
  ]),

  refused('a plant of over 400 KB', { body: `{"id":${id(8)},"name":"${'x'.repeat(410_000)}"}` }, 413),
  {
    ...refused('a body of 7 MB', { body: `{"id":${id(8)},"name":"${'x'.repeat(7 * 1024 * 1024)}"}` }, 413),
    byGateway: true,
  },
];
