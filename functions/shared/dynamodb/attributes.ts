import { parseDigits } from '../exact-numbers.ts';
import type { AttributeValue } from './actions.ts';

/** The value of a body's member. */
export type MemberValue = string | number | bigint | boolean;

/** Converts a member's value to a DynamoDB attribute. */
export function attributeValue(value: MemberValue): AttributeValue {
  if (typeof value === 'string') return { S: value };
  return typeof value === 'boolean' ? { BOOL: value } : { N: String(value) };
}

/**
 * Converts a DynamoDB attribute to a member's value. An integer of up to 19 digits becomes a bigint. Returns
 * undefined for a missing attribute, a null, a list and a map.
 */
export function memberValue({ S, BOOL, N }: AttributeValue = { NULL: true }): MemberValue | undefined {
  return N === undefined ? (S ?? BOOL) : (parseDigits(N) ?? Number(N));
}

/** DynamoDB does not say whether a whole number is an int64, so each is a bigint. */
type Stored<Value> = Value extends number ? number | bigint : Value;
type StoredMembers<Members> = { [Name in keyof Members]: Stored<Members[Name]> };

/**
 * Converts an item to an object with these members. One that the item does not have is undefined, which a response omits.
 * `Members` is a type of the contract, which the item matched when it was stored.
 */
export function membersOf<Members extends object>(
  item: Record<string, AttributeValue>,
  names: (keyof Members & string)[],
): StoredMembers<Members> {
  return Object.fromEntries(names.map((name) => [name, memberValue(item[name])])) as StoredMembers<Members>;
}
