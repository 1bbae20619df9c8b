import { expect, expectTypeOf, test } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { startEngine } from '../../test/support/engine.ts';
import { fc, int64, text } from '../../test/support/property.ts';
import type { Shape } from '../json/shape.ts';
import { successResponse } from '../middleware/success-response.ts';
import { fromAttribute, fromItem, type Item, type MemberValue, toAttribute } from './attributes.ts';
import { DynamoDb } from './client.ts';

const engine = closedAtEnd(await startEngine());
const dynamoDb = new DynamoDb();

/** Stores an attribute, and returns it as DynamoDB does. */
async function stored(attribute: Item[string]) {
  const table = { TableName: engine.plantsTable };
  await dynamoDb.call('PutItem', { ...table, Item: { id: { N: '1' }, member: attribute } }, 60_000);
  const { Item: item } = await dynamoDb.call('GetItem', { ...table, Key: { id: { N: '1' } } }, 60_000);
  return item?.['member'];
}

/** Without -0, which DynamoDB stores as 0. */
const storable = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .filter((value) => value === 0 || (Math.abs(value) >= 1e-130 && Math.abs(value) < 1e126))
  .map((value) => value + 0);
const scalars = { string: text, boolean: fc.boolean(), number: storable, int32: fc.integer(), int64 };
const memberName = fc.string({ minLength: 1 }).filter((name) => name !== '__proto__');

const { anyType } = fc.letrec<{ anyType: Shape; items: [Shape]; members: Record<string, Shape> }>((tie) => ({
  anyType: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...(Object.keys(scalars) as (keyof typeof scalars)[])),
    tie('items'),
    tie('members'),
  ),
  items: fc.tuple(tie('anyType')),
  members: fc.dictionary(memberName, tie('anyType'), { noNullPrototype: true, maxKeys: 12 }),
}));

function anyOf(type: Shape): fc.Arbitrary<MemberValue> {
  if (typeof type === 'string') return scalars[type];
  if (Array.isArray(type)) return fc.array(anyOf(type[0]), { maxLength: 5 });
  const members = Object.entries(type).map(([name, member]) => [name, anyOf(member)]);
  return fc.record<Record<string, MemberValue>>(Object.fromEntries(members), { requiredKeys: [] });
}

test('preserves each value of a contract', async () => {
  const typed = anyType.chain((type) => fc.tuple(fc.constant(type), anyOf(type)));
  await fc.assert(
    fc.asyncProperty(typed, async ([type, value]) => {
      const returned = fromAttribute(await stored(toAttribute(value)), type);
      expect(returned).toEqual(value);
      expect(successResponse({ returned }).body).toBe(successResponse({ returned: value }).body);
    }),
  );
});

test('stores -0 as 0', async () => {
  expect(fromAttribute(await stored(toAttribute(-0)), 'number')).toBe(0);
});

test('converts an item to its members, without other attributes and those that it does not have', () => {
  const item = {
    id: { N: '1' },
    name: { S: 'fern' },
    height: { N: '1.5' },
    care: { M: { water: { N: '2' }, sun: { S: 'much' } } },
  };
  const members = fromItem(item, { id: 'int64', name: 'string', tag: 'string', care: { water: 'int32' } });
  expectTypeOf(members).toEqualTypeOf<{
    id: bigint | undefined;
    name: string | undefined;
    tag: string | undefined;
    care: { water: number | undefined } | undefined;
  }>();
  expect(successResponse(members).body).toBe('{"id":1,"name":"fern","care":{"water":2}}');
});

test.each<[Item[string], Shape, unknown]>([
  [{ N: '1' }, 'string', undefined],
  [{ N: '1' }, 'boolean', undefined],
  [{ S: '1' }, 'number', undefined],
  [{ S: '1' }, 'int64', undefined],
  [{ N: '1.5' }, 'int64', undefined],
  [{ N: '1.5' }, 'int32', undefined],
  [{ N: '2147483648' }, 'int32', undefined],
  [{ N: '9007199254740993' }, 'number', 9007199254740992],
  [{ M: {} }, ['string'], undefined],
  [{ L: [] }, { water: 'int32' }, undefined],
  [{ L: [{ N: '1' }, { S: 'x' }] }, ['string'], undefined],
])('reads %j, which an older contract allowed, as a value of the type %j', (attribute, type, value) => {
  expect(fromAttribute(attribute, type)).toEqual(value);
});
