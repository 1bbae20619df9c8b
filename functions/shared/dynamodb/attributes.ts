import { parseDigits } from '../json/exact-numbers.ts';
import type { Scalar, Shape } from '../json/shape.ts';
import type { AttributeValue } from './actions.ts';

export type Item = Record<string, AttributeValue>;

/** A value of the contract. An undefined member of an object is not stored. */
export type MemberValue = string | number | bigint | boolean | MemberValue[] | Members;
type Members = { [name: string]: MemberValue | undefined };

/**
 * Converts an object to an item.
 *
 * @example
 * toItem({ id: 1n, name: 'Aloe', tag: undefined }); // { id: { N: '1' }, name: { S: 'Aloe' } }
 */
export function toItem(members: Members): Item {
  const entries = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, toAttribute(value)]],
  );
  return Object.fromEntries(entries);
}

/** Converts a value to a DynamoDB attribute. */
export function toAttribute(value: MemberValue): AttributeValue {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (Array.isArray(value)) return { L: value.map(toAttribute) };
  return typeof value === 'object' ? { M: toItem(value) } : { N: String(value) };
}

/** The forms of an attribute that a value of the contract has. */
interface Attribute {
  S?: string;
  BOOL?: boolean;
  N?: string;
  L?: Attribute[];
  M?: Record<string, Attribute>;
}

/** The value of a type. Each member of an object can be missing, because the item can be older than the contract. */
type ValueOf<Type> = Type extends 'string'
  ? string
  : Type extends 'boolean'
    ? boolean
    : Type extends 'int64'
      ? bigint
      : Type extends Scalar
        ? number
        : Type extends [infer Item]
          ? ValueOf<Item>[]
          : { -readonly [Member in keyof Type]: ValueOf<Type[Member]> | undefined };

/**
 * Converts an item to an object with these members. A member that is not in the item is undefined, which JSON omits.
 */
export function fromItem<const Types extends Record<string, Shape>>(
  item: Record<string, Attribute>,
  types: Types,
): ValueOf<Types> {
  const entries = Object.entries(types).map(([name, type]) => [name, fromAttribute(item[name], type)]);
  return Object.fromEntries(entries) as ValueOf<Types>;
}

/**
 * Converts a DynamoDB attribute to a value of this type. Returns undefined for a missing attribute, for one of another
 * type, which was stored before the contract changed, and for a list with such an item. An object loses only such
 * members. Does not check keywords such as `enum`.
 */
export function fromAttribute({ S, BOOL, N, L, M }: Attribute = {}, type: Shape): unknown {
  if (type === 'string') return S;
  if (type === 'boolean') return BOOL;
  if (Array.isArray(type)) {
    const items = L?.map((item) => fromAttribute(item, type[0]));
    return items?.includes(undefined) ? undefined : items;
  }
  if (typeof type === 'object') return M && fromItem(M, type);
  if (N === undefined) return undefined;
  if (type === 'int64') return parseDigits(N);
  const number = Number(N);
  return type === 'number' || number === (number | 0) ? number : undefined;
}
