import { wholeNumber } from '../middleware/exact-numbers.ts';
import type { AttributeValue } from './dynamodb.ts';

export type MemberValue = string | number | bigint | boolean;

/** A member of a body as DynamoDB holds it. */
export function attributeValue(value: MemberValue): AttributeValue {
  if (typeof value === 'string') return { S: value };
  return typeof value === 'boolean' ? { BOOL: value } : { N: String(value) };
}

/** An attribute of an item as a member of a body: a whole number as a bigint, which loses no digit. Nothing for none. */
export function memberValue(attribute: AttributeValue | undefined): MemberValue | undefined {
  const { S, BOOL, N } = attribute ?? {};
  return N === undefined ? (S ?? BOOL) : (wholeNumber(N) ?? Number(N));
}
