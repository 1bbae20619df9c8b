import fc from 'fast-check';
import { RE2JS } from 're2js';
import type { Plant } from '../../functions/create-plant/plant.generated.ts';
import { contract } from './contract-body.ts';

/** A Unicode character. fast-check's own `unit: 'binary'` takes most of a second to make. */
const unit = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));

/** Any well-formed string. */
export const anyText = fc.string({ unit });

const { required, properties } = contract['components'].schemas.Plant;
const members = Object.keys(properties).map((name) => [name, anyMember(name)]);

/** Any plant with the values that the contract allows for each member. */
export const anyPlant: fc.Arbitrary<Plant> = fc.record(Object.fromEntries(members), { requiredKeys: required });

function anyMember(name: string): fc.Arbitrary<unknown> {
  const { type, enum: values, pattern, minLength = 0, maxLength, ...bounds } = properties[name];
  const { minimum: min = -(2 ** 31), maximum: max = 2 ** 31 - 1 } = bounds;
  if (values) return fc.constantFrom(...values);
  if (type === 'boolean') return fc.boolean();
  // A mistake would show at 0 and at the bounds.
  if (type === 'integer') return fc.oneof(fc.integer({ min, max }), fc.constantFrom(0, min, max));
  if (type !== 'string') throw new Error(`Add values of the member ${name} to test/support/any-plant.ts.`);
  if (pattern !== undefined) {
    const [regExp, re2] = [new RegExp(pattern, 'u'), RE2JS.compile(pattern)];
    // Repetitions have about 10, 100 or 1,000 parts. With `maxLength`, fast-check would search forever if some are nested.
    const sizes: fc.SizeForArbitrary[] = minLength > 100 ? ['small', 'medium', 'large'] : ['small', 'medium'];
    return fc.oneof(...sizes.map((size) => fc.stringMatching(regExp, { size }))).filter((text) => {
      const { length } = [...text];
      return length >= minLength && length <= maxLength && re2.test(text);
    });
  }
  return fc.string({ unit, minLength, ...(maxLength !== undefined && { maxLength }) });
}
