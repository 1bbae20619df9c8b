/** A number in the body that is not an exact integer, as it was sent. */
export class InexactNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/** The names of the members that lead to an int64 of the schema; `*` is each item of an array. */
export type Int64Path = readonly string[];

/** Copies the int64s at a path from a value that was parsed exactly. The validator refuses values of the wrong type. */
export function makeExact([member, ...further]: Int64Path, value: unknown, exact: unknown): void {
  if (!isRecord(value) || !isRecord(exact) || member === undefined) return;
  for (const name of member === '*' ? Object.keys(value) : [member]) {
    if (further.length > 0) makeExact(further, value[name], exact[name]);
    else if (typeof value[name] === 'number') value[name] = exact[name];
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

// TypeScript's types do not have the reviver's third argument yet.
type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** Parses a JSON text. Each number is a bigint, or an InexactNumber; beyond 2^53 only plain digits count as an integer. */
export function parsedExactly(text: string): unknown {
  return parseWithSource(text, (_, value, { source }) =>
    typeof value === 'number' ? exactNumber(value, source) : value,
  );
}

function exactNumber(value: number, source: string): bigint | InexactNumber {
  const digits = wholeNumber(source);
  if (digits !== undefined) return digits;
  return Number.isSafeInteger(value) && isInteger(source) ? BigInt(value) : new InexactNumber(source);
}

/** Any int64 has at most 19 digits; to make a BigInt of a million digits takes seconds. */
const PLAIN_DIGITS = /^-?\d{1,19}$/;

/** Returns the bigint of a text in plain digits, which may be beyond int64. */
export function wholeNumber(text: string): bigint | undefined {
  return PLAIN_DIGITS.test(text) ? BigInt(text) : undefined;
}

/** Tells whether a number has only zeros after its decimal point, like `7.0` and `1.5e1`, and unlike `1e-400`. */
function isInteger(source: string): boolean {
  const [, whole = '', decimals = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(source) ?? [];
  const shift = Number(exponent);
  const afterPoint = shift >= 0 ? decimals.slice(shift) : whole.slice(shift) + decimals;
  return /^0*$/.test(afterPoint);
}
