import fc from 'fast-check';
import type { Plant } from '../../functions/create-plant/plant.ts';
import { contract } from './contract.ts';

/** A Unicode character. fast-check's own `unit: 'binary'` takes most of a second to make. */
const unit = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));

/** Any well-formed string. */
export const anyText = fc.string({ unit });

const { required, properties } = contract['components'].schemas.Plant;
const members = Object.keys(properties).map((name) => [name, anyMember(name)]);

/** Any plant with the texts that the contract allows for each member. */
export const anyPlant: fc.Arbitrary<Plant> = fc.record(Object.fromEntries(members), { requiredKeys: required });

function anyMember(name: string): fc.Arbitrary<string> {
  const { type, enum: texts, pattern, minLength = 0, maxLength } = properties[name];
  if (type !== 'string')
    throw new Error(`The member ${name} is no string; add its values to test/support/any-plant.ts.`);
  if (texts) return fc.constantFrom(...texts);
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern, 'u'));
  return fc.string({ unit, minLength, ...(maxLength !== undefined && { maxLength }) });
}
