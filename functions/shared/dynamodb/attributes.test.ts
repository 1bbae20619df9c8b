import { expect, expectTypeOf, test } from 'vitest';
import { closedAtEnd } from '../../../test/support/closed-at-end.ts';
import { startEngine } from '../../../test/support/engine.ts';
import { contextWith } from '../../../test/support/event.ts';
import { fc, int64 } from '../../../test/support/property.ts';
import { successResponse } from '../success-response.ts';
import { attributeValue, type MemberValue, membersOf, memberValue } from './attributes.ts';
import { DynamoDb } from './client.ts';

const engine = closedAtEnd(await startEngine());
const dynamoDb = new DynamoDb();

/** Stores a member and returns the JSON of a response with it. */
async function response(value: MemberValue): Promise<string> {
  const Item = { id: { N: '1' }, member: attributeValue(value) };
  const TableName = engine.plantsTable;
  await dynamoDb.send('PutItem', { TableName, Item }, contextWith());
  const { Item: stored } = await dynamoDb.send('GetItem', { TableName, Key: { id: { N: '1' } } }, contextWith());
  return successResponse({ member: memberValue(stored?.['member']) }).body;
}

test('preserves every digit of an int64', async () => {
  await fc.assert(
    fc.asyncProperty(int64, async (value) => {
      expect(await response(value)).toBe(`{"member":${value}}`);
    }),
  );
});

test('preserves every number that DynamoDB can store', async () => {
  const storable = fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((value) => value === 0 || (Math.abs(value) >= 1e-130 && Math.abs(value) < 1e126));
  await fc.assert(
    fc.asyncProperty(storable, async (value) => {
      // DynamoDB has no negative zero, and JSON.stringify writes it as 0.
      expect(JSON.parse(await response(value)).member).toBe(value === 0 ? 0 : value);
    }),
  );
});

test.each(['', 'fern', true, false])('preserves %j', async (value) => {
  expect(JSON.parse(await response(value))).toEqual({ member: value });
});

test('converts an item to its members, without other attributes and those that it does not have', () => {
  const item = { id: { N: '1' }, name: { S: 'fern' }, height: { N: '1.5' } };
  const members = membersOf<{ id: bigint; name: string; tag?: string }>(item, ['id', 'name', 'tag']);
  expect(members).toEqual({ id: 1n, name: 'fern' });
  expect(successResponse(members).body).toBe('{"id":1,"name":"fern"}');
});

test('types a whole number as the bigint that it becomes', () => {
  const { height } = membersOf<{ height?: number }>({ height: { N: '7' } }, ['height']);
  expect(height).toBe(7n);
  expectTypeOf(height).toEqualTypeOf<number | bigint | undefined>();
});
