import fc from 'fast-check';

// The number of random inputs for each property.
fc.configureGlobal({ numRuns: Number(process.env['PROPERTY_RUNS'] ?? 20) });

/** Any Unicode character. `'binary'`, the same of fast-check, takes most of a second to make. */
export const character = fc
  .oneof(fc.integer({ max: 0xd7ff, min: 0 }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));

/** Any well-formed string. */
export const text = fc.string({ unit: character });

/** Any int64. */
export const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

export { fc };
