import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { changesOf } from './contract-changes.ts';

// What a test changes is of no one type.
type Contract = ReturnType<typeof parse>;

const contract = readFileSync(join(import.meta.dirname, '../openapi.yaml'), 'utf8');

const edited = (text: string, edit: (contract: Contract) => void): string => {
  const document = parse(text);
  edit(document);
  return stringify(document, { aliasDuplicateObjects: false });
};

const mayBreak = (before: string, edit: (contract: Contract) => void): boolean[] => {
  const changes = changesOf(before, edited(before, edit));
  expect(changes).not.toEqual([]);
  return changes.map((change) => change.mayBreak);
};

const post = ({ paths }: Contract) => paths['/plants'].post;
const body = (contract: Contract) => post(contract).requestBody.content;
const schemas = ({ components }: Contract) => components.schemas;
const [newPlant, plant, error] = [
  (contract: Contract) => schemas(contract).NewPlant.allOf[0],
  (contract: Contract) => schemas(contract).Plant,
  (contract: Contract) => schemas(contract).Error,
];
const header = (required: boolean) => ({
  name: 'X-Owner',
  in: 'header',
  required,
  schema: { type: 'string', maxLength: 9 },
});

/** With what can be changed: a bound, a parameter, a member that is called like a bound, a second kind of token. */
const bounded = edited(contract, (contract) => {
  Object.assign(newPlant(contract).properties, { pattern: { type: 'string' } });
  Object.assign(newPlant(contract).properties.id, { minimum: 5 });
  Object.assign(error(contract).properties.message, { maxLength: 50 });
  post(contract).parameters = [header(false)];
  contract.components.securitySchemes.key = { type: 'apiKey', in: 'header', name: 'X-Key' };
  contract.security.push({ key: [] });
  contract.paths['/plants/{id}'] = { get: { ...post(contract), operationId: 'getPlant', parameters: undefined } };
});

describe('a change may break callers', () => {
  test.each<[string, (contract: Contract) => void]>([
    [
      'a member that must be sent',
      (c) => {
        newPlant(c).properties.owner = { type: 'string' };
        newPlant(c).required.push('owner');
      },
    ],
    ['an optional member that must be sent', (c) => plant(c).required.push('tag')],
    ['the same, said in another part of the schema', (c) => newPlant(c).required.push('tag')],
    ['a shorter name', (c) => Object.assign(plant(c).properties.name, { maxLength: 5 })],
    [
      'the same, said in another part of the schema',
      (c) => {
        newPlant(c).properties.name = { type: 'string', maxLength: 5 };
      },
    ],
    ['only some names', (c) => Object.assign(plant(c).properties.name, { pattern: '^[a-z]+$' })],
    ['a choice of tags', (c) => Object.assign(plant(c).properties.tag, { enum: ['shrub', 'climber'] })],
    ['a smaller id', (c) => Object.assign(newPlant(c).properties.id, { format: 'int32' })],
    [
      'another type of id',
      (c) => {
        newPlant(c).properties.id = { type: 'string' };
      },
    ],
    ['no members beyond those named', (c) => Object.assign(newPlant(c), { additionalProperties: false })],
    ['a member that was taken', (c) => delete plant(c).properties.tag],
    ['another type of a member that is answered', (c) => Object.assign(error(c).properties.error, { type: 'string' })],
    [
      'a member that may be null in an answer',
      (c) => {
        error(c).properties.message.type = ['string', 'null'];
      },
    ],
    ['a member that an answer may lack', (c) => error(c).required.pop()],
    ['a member that is answered no more', (c) => delete error(c).properties.message],
    [
      'another status',
      (c) => {
        post(c).responses['201'] = post(c).responses['200'];
      },
    ],
    ['a header that is answered no more', (c) => delete post(c).responses['400'].headers['Retry-After']],
    [
      'another type of body',
      (c) => {
        post(c).requestBody.content = { 'text/plain': body(c)['application/json'] };
      },
    ],
    [
      'another path',
      (c) => {
        c.paths = { '/plant': c.paths['/plants'] };
      },
    ],
    [
      'another method',
      (c) => {
        c.paths['/plants'] = { put: post(c) };
      },
    ],
    ['another name in generated clients', (c) => Object.assign(post(c), { operationId: 'makePlant' })],
    ['another address', (c) => Object.assign(c.servers[0], { url: '{base_url}/v2' })],
    ['a header that must be sent', (c) => Object.assign(post(c), { parameters: [header(true)] })],
    ['another kind of token', (c) => Object.assign(c.components.securitySchemes.bearerToken, { scheme: 'basic' })],
    [
      'a parameter of all operations of a path',
      (c) => {
        c.paths['/plants'].parameters = [header(true)];
      },
    ],
    ['a second key besides the token', (c) => Object.assign(c.security[0], { key: [] })],
  ])('%s', (_, edit) => expect(mayBreak(contract, edit)).toContain(true));

  test.each<[string, (contract: Contract) => void]>([
    ['a higher minimum', (c) => Object.assign(newPlant(c).properties.id, { minimum: 6 })],
    ['a longer message', (c) => Object.assign(error(c).properties.message, { maxLength: 51 })],
    ['a message of any length', (c) => delete error(c).properties.message.maxLength],
    ['a member that is called like a bound', (c) => delete newPlant(c).properties.pattern],
    ['one kind of token less', (c) => c.security.pop()],
    ['a parameter that is read no more', (c) => post(c).parameters.pop()],
    ['a parameter that must be sent', (c) => Object.assign(post(c).parameters[0], { required: true })],
    [
      'two parameters, of which one must be sent',
      (c) => {
        c.paths['/plants/{id}'].get.parameters = [header(false), { ...header(true), name: 'X-Garden' }];
      },
    ],
    ['an operation that asks for no token', (c) => Object.assign(post(c), { security: [] })],
    ['another parameter that must be sent', (c) => post(c).parameters.push({ ...header(true), name: 'X-Garden' })],
  ])('%s, where there is a bound or a parameter', (_, edit) => expect(mayBreak(bounded, edit)).toContain(true));
});

describe.each<[bound: string, member: string, tight: unknown, loose: unknown]>([
  ['maximum', 'error', 5, 6],
  ['minimum', 'error', 6, 5],
  ['exclusiveMaximum', 'error', 5, 6],
  ['exclusiveMinimum', 'error', 6, 5],
  ['maxLength', 'message', 5, 6],
  ['minLength', 'message', 6, 5],
  ['pattern', 'message', '^a$', undefined],
])('of %s', (bound, member, tight, loose) => {
  /** Requests and answers alike have such a bound, or none. */
  const withBound = (where: 'request' | 'answer', value: unknown) =>
    edited(contract, (c) => {
      const { properties } = where === 'answer' ? error(c) : newPlant(c);
      properties[member] = { ...error(c).properties[member], ...(value !== undefined && { [bound]: value }) };
    });
  const breaks = (where: 'request' | 'answer', before: unknown, after: unknown) =>
    changesOf(withBound(where, before), withBound(where, after)).some((change) => change.mayBreak);

  test('a looser one breaks nobody who sends, and may break who reads', () => {
    expect(breaks('request', tight, loose)).toBe(false);
    expect(breaks('answer', tight, loose)).toBe(true);
  });

  test('a tighter one may break who sends, and nobody who reads', () => {
    expect(breaks('request', loose, tight)).toBe(true);
    expect(breaks('answer', loose, tight)).toBe(false);
    expect(breaks('answer', undefined, tight)).toBe(false);
  });
});

describe('a change breaks no caller', () => {
  test.each<[string, (contract: Contract) => void]>([
    ['other words', (c) => Object.assign(post(c), { summary: 'Store a plant' })],
    ['a new version', (c) => Object.assign(c.info, { version: '1.1.0' })],
    ['another example', (c) => Object.assign(body(c)['application/json'].example, { id: 7 })],
    ['named examples', (c) => Object.assign(body(c)['application/json'], { examples: { one: { value: { id: 7 } } } })],
    ['a note that an operation will go', (c) => Object.assign(post(c), { deprecated: true })],
    [
      'an operation',
      (c) => {
        c.paths['/gardens'] = { post: { ...post(c), operationId: 'createGarden', parameters: [header(true)] } };
      },
    ],
    ['an optional member', (c) => Object.assign(plant(c).properties, { owner: { type: 'string' } })],
    ['a member that need not be sent any more', (c) => newPlant(c).required.pop()],
    ['a member more in an answer', (c) => Object.assign(error(c).properties, { hint: { type: 'string' } })],
    [
      'a member that is always answered',
      (c) => {
        error(c).properties.hint = { type: 'string' };
        error(c).required.push('hint');
      },
    ],
    ['a shorter message', (c) => Object.assign(error(c).properties.message, { maxLength: 100 })],
    [
      'a header more in an answer',
      (c) => {
        const { headers } = post(c).responses['400'];
        headers['X-Hint'] = headers['Retry-After'];
      },
    ],
    ['another type of body besides', (c) => Object.assign(body(c), { 'text/plain': body(c)['application/json'] })],
    ['an optional header', (c) => Object.assign(post(c), { parameters: [header(false)] })],
    [
      'another kind of token besides',
      (c) => {
        c.components.securitySchemes.key = { type: 'apiKey', in: 'header', name: 'X-Key' };
        c.security.push({ key: [] });
      },
    ],
  ])('%s', (_, edit) => expect(mayBreak(contract, edit)).not.toContain(true));

  test.each<[string, (contract: Contract) => void]>([
    ['a lower minimum', (c) => Object.assign(newPlant(c).properties.id, { minimum: 4 })],
    ['no minimum', (c) => delete newPlant(c).properties.id.minimum],
    ['a shorter message', (c) => Object.assign(error(c).properties.message, { maxLength: 49 })],
    ['a tighter bound of a parameter, undone', (c) => delete post(c).parameters[0].schema.maxLength],
    [
      'another name for a part of a path',
      (c) => {
        c.paths = JSON.parse(JSON.stringify(c.paths).replace('{id}', '{plantId}'));
      },
    ],
    ['another optional parameter', (c) => post(c).parameters.push({ ...header(false), name: 'X-Garden' })],
  ])('%s, where there is a bound or a parameter', (_, edit) => expect(mayBreak(bounded, edit)).not.toContain(true));

  test('a schema by another name', () => {
    const renamed = contract.replaceAll('schemas/Error', 'schemas/Fault').replace('    Error:', '    Fault:');
    expect(renamed).not.toBe(contract);
    expect(changesOf(contract, renamed)).toEqual([]);
  });
});
