import { parseDigits } from '../exact-numbers.ts';
import type { ValueType } from '../value-type.ts';
import type { AttributeValue } from './actions.ts';

export type Item = Record<string, AttributeValue>;

/** A value of the contract. An undefined member of an object is not stored. */
export type MemberValue = string | number | bigint | boolean | MemberValue[] | Members;
type Members = { [name: string]: MemberValue | undefined };

/** Converts an object to an item. */
export function itemOf(members: Members): Item {
  const entries = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, attributeValue(value)]],
  );
  return Object.fromEntries(entries);
}

/** Converts a value to a DynamoDB attribute. */
export function attributeValue(value: MemberValue): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (Array.isArray(value)) return { L: value.map(attributeValue) };
  return typeof value === 'object' ? { M: itemOf(value) } : { N: String(value) };
}

/** The forms of an attribute that a value of the contract has. */
interface Attribute {
  S?: string;
  BOOL?: boolean;
  N?: string;
  L?: Attribute[];
  M?: Record<string, Attribute>;
}

/**
 * Converts an item to an object with these members, whose type in TypeScript is `Converted`. A member that the item does not
 * have is undefined, which a response omits: also a required one, if the item is older than the contract.
 */
export function membersOf<Converted extends object>(
  item: Record<string, Attribute>,
  types: Record<keyof Converted & string, ValueType>,
): Converted {
  const entries = Object.entries<ValueType>(types).map(([name, type]) => [name, memberValue(item[name], type)]);
  return Object.fromEntries(entries) as Converted;
}

/**
 * Converts a DynamoDB attribute to a value of this type. Returns undefined for a missing attribute, for one of another type,
 * which was stored before the contract changed, and for a list with such an item. An object loses only such members. Does not
 * check keywords such as `enum`.
 */
export function memberValue({ S, BOOL, N, L, M }: Attribute = {}, type: ValueType): unknown {
  if (type === 'string') return S;
  if (type === 'boolean') return BOOL;
  if (Array.isArray(type)) {
    const items = L?.map((item) => memberValue(item, type[0]));
    return items?.includes(undefined) ? undefined : items;
  }
  if (typeof type === 'object') return M && membersOf(M, type);
  if (N === undefined) return undefined;
  if (type === 'int64') return parseDigits(N);
  const number = Number(N);
  return type === 'number' || number === (number | 0) ? number : undefined;
}
