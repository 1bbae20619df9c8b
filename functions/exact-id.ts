/** The text of a number in JSON that is not an exact `id`, such as `1e999`. No member of a plant can have it. */
export class NumberText {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

// TypeScript has no type for the reviver's third argument yet.
type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/**
 * Parses JSON. A member `id` that is an exact whole number becomes a bigint, and each other number a NumberText.
 *
 * @throws SyntaxError if the text is not JSON
 */
export function parseWithExactId(text: string): unknown {
  return parseWithSource(text, (key, value, { source }) => {
    if (typeof value !== 'number') return value;
    return (key === 'id' ? toBigInt(source) : undefined) ?? new NumberText(source);
  });
}

/** An int64 has at most 19 digits. Converting a million digits to a bigint would take seconds. */
const PLAIN_DIGITS = /^-?\d{1,19}$/;

/**
 * Returns a whole number, also for 7.0 and 1.5e1. Beyond 2^53, such a form could be rounded, so only plain digits are
 * accepted. The result can be outside int64.
 */
function toBigInt(source: string): bigint | undefined {
  if (PLAIN_DIGITS.test(source)) return BigInt(source);
  const number = Number(source);
  return Number.isSafeInteger(number) && isWhole(source) ? BigInt(number) : undefined;
}

/** Returns true for a number without a fraction, such as `7.0` or `1.5e1`, and false for `1e-400`. */
function isWhole(source: string): boolean {
  const [, whole = '', decimals = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(source) ?? [];
  const shift = Number(exponent);
  const afterPoint = shift >= 0 ? decimals.slice(shift) : whole.slice(shift) + decimals;
  return /^0*$/.test(afterPoint);
}
