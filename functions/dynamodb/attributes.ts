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
export function fromItem<const Shapes extends Record<string, Shape>>(
  item: Record<string, Attribute>,
  shapes: Shapes,
): ValueOf<Shapes> {
  const entries = Object.entries(shapes).map(([name, shape]) => [name, fromAttribute(item[name], shape)]);
  return Object.fromEntries(entries) as ValueOf<Shapes>;
}

/**
 * Converts a DynamoDB attribute to a value of this shape. Returns undefined if the attribute is missing or has another
 * type, as in an item that was stored before the contract changed. A list with such a value is undefined. An object
 * only omits such a member. Does not check keywords such as `enum`.
 */
export function fromAttribute({ S, BOOL, N, L, M }: Attribute = {}, shape: Shape): unknown {
  if (shape === 'string') return S;
  if (shape === 'boolean') return BOOL;
  if (Array.isArray(shape)) {
    const items = L?.map((item) => fromAttribute(item, shape[0]));
    return items?.includes(undefined) ? undefined : items;
  }
  if (typeof shape === 'object') return M && fromItem(M, shape);
  if (N === undefined) return undefined;
  if (shape === 'int64') return parseDigits(N);
  const number = Number(N);
  return shape === 'number' || number === (number | 0) ? number : undefined;
}
