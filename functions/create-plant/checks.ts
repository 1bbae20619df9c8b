import {
  type Check,
  check,
  error,
  errorCheck,
  mentions,
  ok,
  requestIdCheck,
  runStep,
  type Step,
} from '../pre-traffic-hook/check.ts';
import type { Client, ClientRequest } from '../pre-traffic-hook/client.ts';
import { UNKNOWN_TOKEN } from '../pre-traffic-hook/contract-checks.ts';
import type { Plant } from './contract.generated.js';

const PLANT: Plant = { name: 'check', tag: 'check' };
/** Spaces, a letter of two code points, and characters that need escaping or that Unicode normalization changes. */
const ODD_TEXT = ' e\u0301🌱"\\\u0000\u2028 ';
const JSON_CONTENT_TYPE = 'APPLICATION/JSON ; charset="utf-8"; version=1';

/** A JSON body with the id, which `JSON.stringify` could not write. There must be another member. */
const bodyOf = (id: bigint, members: object) => JSON.stringify(members).replace('{', `{"id":${id},`);
/** A request body that is not valid UTF-8. */
const notUtf8 = (id: bigint) => Buffer.from(`{"id":${id},"name":"\xff"}`, 'latin1');

/** Steps that create a plant, and repeat the request. */
function createTwice(id: bigint, plant: Plant, changes?: ClientRequest): Step[] {
  const step: Step = [{ body: bodyOf(id, plant), ...changes }, ok(plant)];
  return [step, step];
}

const createdCheck = (subject: string, plant: Plant, changes?: (client: Client, id: bigint) => ClientRequest) =>
  check(`${subject} gets status 200, also when repeated`, (client) => {
    const id = client.id(JSON.stringify(plant));
    return createTwice(id, plant, changes?.(client, id));
  });

/** Checks that a plant is stored exactly: slightly different plants with the same id get error 409. */
const storedExactlyCheck = (subject: string, plant: Plant, others: Plant[]) =>
  check(`${subject} gets status 200 and is stored exactly`, (client) => {
    const id = client.id(subject);
    const conflicts = others.map((other): Step => [{ body: bodyOf(id, other) }, error(409)]);
    return [...createTwice(id, plant), ...conflicts, ...createTwice(id, plant)];
  });

/** Checks that a request gets this error and stores nothing: a different plant with the same id can be created. */
const notStoredCheck = (subject: string, number: number, request: (id: bigint) => ClientRequest) =>
  check(`${subject} gets error ${number} and is not stored`, (client) => {
    const id = client.id(subject);
    return [[request(id), error(number)], ...createTwice(id, PLANT)];
  });

const invalidMembers = (subject: string, members: object, ...names: string[]) =>
  errorCheck(subject, (client) => ({ body: bodyOf(client.id(subject), members) }), 400, ...names);

/** The name is missing too, so that a version that accepts the id stores nothing. */
const invalidId = (subject: string, idOf: (id: bigint, safeInteger: bigint) => string) =>
  errorCheck(
    subject,
    (client) => ({ body: `{"id":${idOf(client.id(subject), client.safeIntegerId(subject))}}` }),
    400,
    'id',
  );

const acceptedId = (form: string, ending: string): Check => ({
  title: `an id in the form ${form} is accepted`,
  run: async (client) => {
    const body = `{"id":${client.safeIntegerId(form)}${ending}}`;
    const response = await runStep(client, [{ body }, error(400, 'name')]);
    if (mentions(response, 'id')) throw new Error(`${JSON.stringify(response)}; the message must not mention id`);
  },
});

const tooLarge = (subject: string, characters: number) =>
  errorCheck(subject, (client) => ({ body: bodyOf(client.id(subject), { name: 'x'.repeat(characters) }) }), 413);

export const createPlantChecks: Check[] = [
  notStoredCheck('a plant with an unknown token', 401, (id) => ({
    headers: { authorization: `Bearer ${UNKNOWN_TOKEN}` },
    body: bodyOf(id, { name: 'stored' }),
  })),
  createdCheck('a plant', PLANT),
  createdCheck('a plant without a tag', { name: 'check' }),
  createdCheck('an empty name with an empty tag', { name: '', tag: '' }),
  storedExactlyCheck('a name with spaces, control characters and Unicode', { name: ODD_TEXT, tag: '植物\n' }, [
    { name: ODD_TEXT.trim(), tag: '植物\n' },
    { name: ODD_TEXT.normalize('NFC'), tag: '植物\n' },
    { name: ODD_TEXT, tag: '植物' },
  ]),
  storedExactlyCheck('a name of 5,000 characters', { name: 'x'.repeat(5000) }, [{ name: 'x'.repeat(4999) }]),
  storedExactlyCheck('the first of several plants with the same id', { name: 'first' }, [
    { name: 'second' },
    { name: 'first', tag: 'x' },
    { name: '' },
  ]),
  check('two ids beyond 2^53 that differ by one, positive or negative, belong to different plants', (client) => {
    const id = client.id('two ids');
    const steps = [id, id + 1n, -id, -id - 1n].flatMap((each) => createTwice(each, { name: `plant ${each}` }));
    return [...steps, ...steps];
  }),
  createdCheck('a plant with unknown members', { name: 'others' }, (_, id) => ({
    body: bodyOf(id, { name: 'others', colour: { red: [1] } }),
  })),
  {
    title: 'the same plant in three concurrent requests gets status 200, also when repeated',
    run: async (client) => {
      const step: Step = [{ body: bodyOf(client.id('concurrent'), PLANT) }, ok(PLANT)];
      // Only three, because a new account may have a concurrency of 10 ("Lambda quotas").
      await Promise.all([runStep(client, step), runStep(client, step), runStep(client, step)]);
      await runStep(client, step);
    },
  },
  createdCheck('a plant with the scheme "bearer" in lower case', PLANT, ({ token }) => ({
    headers: { authorization: `bearer ${token}` },
  })),

  errorCheck('null as body', () => ({ body: 'null' }), 400),
  errorCheck('an array', (client) => ({ body: `[${bodyOf(client.id('an array'), PLANT)}]` }), 400),
  errorCheck('an empty object', () => ({ body: '{}' }), 400, 'id', 'name'),
  errorCheck('a missing id', () => ({ body: '{"name":"x"}' }), 400, 'id'),
  invalidMembers('a missing name', { tag: 'x' }, 'name'),
  invalidId('an id in quotes', (id) => `"${id}"`),
  invalidId('null as id', () => 'null'),
  invalidId('an id with a fraction', (_, safeInteger) => `${safeInteger}.5`),
  invalidId('an id above the int64 range', (id) => String(id + 2n ** 63n)),
  invalidId('an id below the int64 range', (id) => String(-id - 2n ** 63n)),
  invalidId('an id beyond 2^53 with an exponent', (id) => `${id}e0`),
  acceptedId('7.0', '.0'),
  acceptedId('1e2', 'e2'),
  invalidMembers('a number as name', { name: 7 }, 'name'),
  invalidMembers('null as name', { name: null }, 'name'),
  invalidMembers('a number as tag', { name: 'x', tag: 7 }, 'tag'),
  invalidMembers('null as tag', { name: 'x', tag: null }, 'tag'),
  invalidMembers('a lone surrogate', { name: '\ud800' }, 'name'),
  errorCheck('a body that is not UTF-8', (client) => ({ body: notUtf8(client.id('not UTF-8')) }), 400),
  notStoredCheck('a body that is not UTF-8 with the Content-Type "application/vnd.api+json"', 415, (id) => ({
    headers: { 'content-type': 'application/vnd.api+json' },
    body: notUtf8(id),
  })),
  createdCheck(`a plant with the Content-Type ${JSON_CONTENT_TYPE}`, PLANT, () => ({
    headers: { 'content-type': JSON_CONTENT_TYPE },
  })),

  requestIdCheck('each response to POST /plants', (client) => [
    { body: bodyOf(client.id(JSON.stringify(PLANT)), PLANT) },
    { body: '{}' },
    { headers: { 'content-type': 'text/plain' }, body: '{}' },
  ]),

  tooLarge('a plant of more than 400 KB', 410_000),
  tooLarge('a body of more than 2.5 MB', 2_500_000),
];
