import type { Plant } from '../functions/create-plant/contract.generated.js';
import { type Check, check, error, expectResponse, isNamed, ok, ownRequestIds, refused, type Step } from './check.ts';
import type { Client, ClientRequest } from './client.ts';
import { UNKNOWN_TOKEN } from './contract-checks.ts';

const PLANT: Plant = { name: 'check', tag: 'check' };
/** Spaces, a letter in two code points, and characters that encodings and normalization forms change. */
const ODD_TEXT = ' e\u0301🌱"\\\u0000\u2028 ';
const JSON_TYPES = [
  'application/json; charset=utf-8',
  'Application/JSON',
  'application/json ;charset=UTF-8',
  'APPLICATION/JSON ; charset="utf-8"; version=1',
];

const bodyOf = (id: bigint, members: object) => JSON.stringify(members).replace('{', `{"id":${id},`);
/** A plant whose name has a byte that is not UTF-8. */
const notUtf8 = (id: bigint) => Uint8Array.from(Buffer.from(`{"id":${id},"name":"\xff"}`, 'latin1'));

/** Creates a plant, and repeats the request. */
function create(id: bigint, plant: Plant, changes?: ClientRequest): Step[] {
  const step: Step = [{ body: bodyOf(id, plant), ...changes }, ok(plant)];
  return [step, step];
}

const created = (what: string, plant: Plant, changes?: (client: Client, id: bigint) => ClientRequest) =>
  check(`${what} is a 200, and again`, (client) => {
    const id = client.id(JSON.stringify(plant));
    return create(id, plant, changes?.(client, id));
  });

/** Checks that a plant is stored exactly: a plant that differs a little, under the same id, is another plant. */
const storedExactly = (what: string, plant: Plant, others: Plant[]) =>
  check(`${what} is a 200, and stored exactly`, (client) => {
    const id = client.id(JSON.stringify([what, plant]));
    const conflicts = others.map((other): Step => [{ body: bodyOf(id, other) }, error(409)]);
    return [...create(id, plant), ...conflicts, ...create(id, plant)];
  });

/** Checks that a plant in a request with this error is not stored: another plant can have its id. */
const notStored = (what: string, number: number, request: (id: bigint) => ClientRequest) =>
  check(`${what} is error ${number}, and not stored`, (client) => {
    const id = client.id(what);
    return [[request(id), error(number)], ...create(id, PLANT)];
  });

const refusedMembers = (what: string, members: object, ...names: string[]) =>
  refused(what, (client) => ({ body: bodyOf(client.id(what), members) }), 400, ...names);

/** Without a name nothing is stored, whatever the id is. */
const refusedId = (what: string, id: (client: Client) => string) =>
  refused(what, (client) => ({ body: `{"id":${id(client)}}` }), 400, 'id');

const acceptedId = (form: string, id: (client: Client) => string): Check => ({
  title: `an id in the form ${form} is accepted`,
  run: async (client) => {
    const response = await expectResponse(client, [{ body: `{"id":${id(client)}}` }, error(400, 'name')]);
    if (isNamed(response, 'id')) throw new Error(`${JSON.stringify(response)}; the message must not name id`);
  },
});

const tooLarge = (what: string, characters: number) =>
  refused(what, (client) => ({ body: bodyOf(client.id(what), { name: 'x'.repeat(characters) }) }), 413);

export const createPlantChecks: Check[] = [
  notStored('a plant with an unknown token', 401, (id) => ({
    headers: { authorization: `Bearer ${UNKNOWN_TOKEN}` },
    body: bodyOf(id, { name: 'stored' }),
  })),
  created('a plant', PLANT),
  created('a plant without a tag, whose response has none,', { name: 'check' }),
  created('an empty name with an empty tag', { name: '', tag: '' }),
  storedExactly('a name with spaces, controls and any Unicode', { name: ODD_TEXT, tag: '植物\n' }, [
    { name: ODD_TEXT.trim(), tag: '植物\n' },
    { name: ODD_TEXT.normalize('NFC'), tag: '植物\n' },
    { name: ODD_TEXT, tag: '植物' },
  ]),
  storedExactly('a name of 5,000 characters', { name: 'x'.repeat(5000) }, [{ name: 'x'.repeat(4999) }]),
  storedExactly('a plant under an id in use, if it is a different one,', { name: 'first' }, [
    { name: 'second' },
    { name: 'first', tag: 'x' },
    { name: '' },
  ]),
  check('two ids beyond 2^53 that differ by one are two plants, positive and negative', (client) => {
    const id = client.id('two ids');
    const steps = [id, id + 1n, -id, -id - 1n].flatMap((each) => create(each, { name: `plant ${each}` }));
    return [...steps, ...steps];
  }),
  created('a plant with other members, which are ignored,', { name: 'others' }, (_, id) => ({
    body: bodyOf(id, { name: 'others', colour: { red: [1] } }),
  })),
  {
    title: 'one plant three times at once is a 200, and again',
    run: async (client) => {
      const plant = { name: 'at once' };
      const [step, again] = create(client.id('at once'), plant) as [Step, Step];
      // More at once would use up the concurrency of a new account, which may be 10 ("Lambda quotas").
      await Promise.all([expectResponse(client, step), expectResponse(client, step), expectResponse(client, step)]);
      await expectResponse(client, again);
    },
  },
  created('the scheme "bearer" in lower case', PLANT, ({ token }) => ({
    headers: { authorization: `bearer ${token}` },
  })),

  refused('null', () => ({ body: 'null' }), 400),
  refused('a list', (client) => ({ body: `[${bodyOf(client.id('a list'), PLANT)}]` }), 400),
  refused('an empty object', () => ({ body: '{}' }), 400, 'id', 'name'),
  refused('a missing id', () => ({ body: '{"name":"x"}' }), 400, 'id'),
  refusedMembers('a missing name', { tag: 'x' }, 'name'),
  refusedId('an id in quotes', (client) => `"${client.id('quotes')}"`),
  refusedId('null as id', () => 'null'),
  refusedId('an id with a fraction', (client) => `${client.safeId('a fraction')}.5`),
  refusedId('an id over the highest int64', (client) => String(client.id('over') + 2n ** 63n)),
  refusedId('an id under the lowest int64', (client) => String(-client.id('under') - 2n ** 63n)),
  refusedId('an id beyond 2^53 with an exponent', (client) => `${client.id('an exponent')}e0`),
  acceptedId('7.0', (client) => `${client.safeId('7.0')}.0`),
  acceptedId('1e2', (client) => `${client.safeId('1e2')}e2`),
  refusedMembers('a number as name', { name: 7 }, 'name'),
  refusedMembers('null as name', { name: null }, 'name'),
  refusedMembers('a number as tag', { name: 'x', tag: 7 }, 'tag'),
  refusedMembers('null as tag', { name: 'x', tag: null }, 'tag'),
  refusedMembers('a lone surrogate', { name: '\ud800' }, 'name'),
  refused('a body that is not UTF-8', (client) => ({ body: notUtf8(client.id('not UTF-8')) }), 400),
  notStored('a body that is not UTF-8, with the Content-Type application/vnd.api+json,', 415, (id) => ({
    headers: { 'content-type': 'application/vnd.api+json' },
    body: notUtf8(id),
  })),
  ...JSON_TYPES.map((type) =>
    created(`the Content-Type ${type}`, PLANT, () => ({ headers: { 'content-type': type } })),
  ),

  ownRequestIds('each response to a plant', (client) => [
    { body: bodyOf(client.id(JSON.stringify(PLANT)), PLANT) },
    { body: '{}' },
    { headers: { 'content-type': 'text/plain' }, body: '{}' },
  ]),

  tooLarge('a plant of over 400 KB', 410_000),
  tooLarge('a body of over 2.5 MB', 2_500_000),
];
