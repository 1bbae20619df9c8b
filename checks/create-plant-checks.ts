import { type Check, mustBe, names, ownRequestIds, refused, shown } from './check.ts';
import type { Client, Plant } from './client.ts';
import { UNKNOWN_TOKEN } from './contract-checks.ts';
import { idFor, safeIdFor } from './ids.ts';

const PLANT = { name: 'check', tag: 'check' };
/** Spaces, a letter in two code points, and characters that encodings and normalization forms change. */
const ODD_TEXT = ' e\u0301🌱"\\\u0000\u2028 ';

interface Creation {
  /** The scheme of the Authorization header. */
  scheme?: string;
  contentType?: string;
  /** Members that a Plant does not have. */
  others?: object;
  /** How many times it is sent at once. Default: once. */
  atOnce?: number;
}

/** Sends a plant, and then once more, which must be a 200 again. */
async function create(client: Client, id: bigint, plant: Plant, creation: Creation = {}): Promise<void> {
  const { scheme = 'Bearer', contentType = 'application/json', others, atOnce = 1 } = creation;
  const headers = { authorization: `${scheme} ${client.token}`, 'content-type': contentType };
  const send = () => client.send({ headers, body: bodyOf(id, { ...plant, ...others }) });
  const responses = await Promise.all(Array.from({ length: atOnce }, send));
  for (const response of [...responses, await send()]) mustBe(response, { status: 200, plant });
}

const bodyOf = (id: bigint, members: object) => JSON.stringify(members).replace('{', `{"id":${id},`);

/** A plant whose name has a byte that is not UTF-8. */
const notUtf8 = (id: bigint) => Uint8Array.from(Buffer.from(`{"id":${id},"name":"\xff"}`, 'latin1'));

const created = (what: string, plant: Plant, creation?: Creation): Check => ({
  title: `${what} is a 200, and again`,
  run: (client) => create(client, idFor(client, JSON.stringify(plant)), plant, creation),
});

/** Checks that a plant is stored exactly: a plant that differs a little, under the same id, is another plant. */
const storedExactly = (what: string, plant: Plant, others: Plant[]): Check => ({
  title: `${what} is a 200, and stored exactly`,
  run: async (client) => {
    const id = idFor(client, JSON.stringify([what, plant]));
    await create(client, id, plant);
    for (const other of others) {
      mustBe(await client.send({ body: bodyOf(id, other) }), { status: 400, error: 409 });
    }
    await create(client, id, plant);
  },
});

const refusedMembers = (what: string, members: object, ...named: string[]) =>
  refused(what, (client) => ({ body: bodyOf(idFor(client, what), members) }), 400, ...named);

/** Without a name nothing is stored, whatever the id is. */
const refusedId = (what: string, id: (client: Client) => string) =>
  refused(what, (client) => ({ body: `{"id":${id(client)}}` }), 400, 'id');

const acceptedId = (form: string, id: (client: Client) => string): Check => ({
  title: `an id in the form ${form} is accepted`,
  run: async (client) => {
    const response = await client.send({ body: `{"id":${id(client)}}` });
    mustBe(response, { status: 400, error: 400 });
    if (names(response, 'name') && !names(response, 'id')) return;
    throw new Error(`${shown(response)}; the message must name name, and not id`);
  },
});

export const createPlantChecks: Check[] = [
  {
    title: 'a plant with an unknown token is error 401, and not stored',
    run: async (client) => {
      const id = idFor(client, 'an unknown token');
      const headers = { authorization: `Bearer ${UNKNOWN_TOKEN}` };
      mustBe(await client.send({ headers, body: bodyOf(id, { name: 'stored' }) }), { status: 400, error: 401 });
      await create(client, id, PLANT);
    },
  },
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
  {
    title: 'two ids beyond 2^53 that differ by one are two plants, positive and negative',
    run: async (client) => {
      const id = idFor(client, 'two ids');
      const plants = [id, id + 1n, -id, -id - 1n].map((each) => ({ id: each, plant: { name: `plant ${each}` } }));
      for (const { id, plant } of plants) await create(client, id, plant);
      for (const { id, plant } of plants) await create(client, id, plant);
    },
  },
  created('a plant with other members, which are ignored,', { name: 'others' }, { others: { colour: { red: [1] } } }),
  // More at once would use up the concurrency of a new account, which may be 10 ("Lambda quotas").
  created('one plant three times at once', { name: 'at once' }, { atOnce: 3 }),
  created('the scheme "bearer" in lower case', PLANT, { scheme: 'bearer' }),

  refused('null', { body: 'null' }, 400),
  refused('a list', (client) => ({ body: `[${bodyOf(idFor(client, 'a list'), PLANT)}]` }), 400),
  refused('an empty object', { body: '{}' }, 400, 'id', 'name'),
  refused('a missing id', { body: '{"name":"x"}' }, 400, 'id'),
  refusedMembers('a missing name', { tag: 'x' }, 'name'),
  refusedId('an id in quotes', (client) => `"${idFor(client, 'quotes')}"`),
  refusedId('null as id', () => 'null'),
  refusedId('an id with a fraction', (client) => `${safeIdFor(client, 'a fraction')}.5`),
  refusedId('an id over the highest int64', (client) => String(idFor(client, 'over') + 2n ** 63n)),
  refusedId('an id under the lowest int64', (client) => String(-idFor(client, 'under') - 2n ** 63n)),
  refusedId('an id beyond 2^53 with an exponent', (client) => `${idFor(client, 'an exponent')}e0`),
  acceptedId('7.0', (client) => `${safeIdFor(client, '7.0')}.0`),
  acceptedId('1e2', (client) => `${safeIdFor(client, '1e2')}e2`),
  refusedMembers('a number as name', { name: 7 }, 'name'),
  refusedMembers('null as name', { name: null }, 'name'),
  refusedMembers('a number as tag', { name: 'x', tag: 7 }, 'tag'),
  refusedMembers('null as tag', { name: 'x', tag: null }, 'tag'),
  refusedMembers('a lone surrogate', { name: '\ud800' }, 'name'),
  refused('a body that is not UTF-8', (client) => ({ body: notUtf8(idFor(client, 'not UTF-8')) }), 400),
  {
    title: 'a body that is not UTF-8, with the Content-Type application/vnd.api+json, is error 415, and not stored',
    run: async (client) => {
      const id = idFor(client, 'not UTF-8, not JSON');
      const headers = { 'content-type': 'application/vnd.api+json' };
      mustBe(await client.send({ headers, body: notUtf8(id) }), { status: 400, error: 415 });
      await create(client, id, PLANT);
    },
  },
  ...[
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json ;charset=UTF-8',
    'APPLICATION/JSON ; charset="utf-8"; version=1',
  ].map((contentType) => created(`the Content-Type ${contentType}`, PLANT, { contentType })),

  ownRequestIds('each response to a plant', (client) => [
    { body: bodyOf(idFor(client, JSON.stringify(PLANT)), PLANT) },
    { body: '{}' },
    { headers: { 'content-type': 'text/plain' }, body: '{}' },
  ]),

  refusedTooLarge('a plant of over 400 KB', 410_000),
  refusedTooLarge('a body of over 2.5 MB', 2_500_000),
];

function refusedTooLarge(what: string, characters: number): Check {
  return refused(what, (client) => ({ body: bodyOf(idFor(client, what), { name: 'x'.repeat(characters) }) }), 413);
}
