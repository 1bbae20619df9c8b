import type { Middleware } from '../request.ts';

/** A number in the body that is not an exact integer, as it was sent. */
export class InexactNumber {
  readonly source: string;
  /** Whether it is beyond 2^53, where only plain digits are exact, and within int64. */
  readonly needsPlainDigits: boolean;

  constructor(value: number, source: string) {
    this.source = source;
    this.needsPlainDigits = Math.abs(value) >= 2 ** 53 && Math.abs(value) <= 2 ** 63;
  }
}

/** The names of the members that lead to an int64 of the schema; `*` is each item of an array. */
export type Int64Path = readonly string[];

/**
 * Makes each int64 of the parsed body a bigint. JSON.parse rounds numbers, and the JSON parser's reviver does not get
 * their text, so the text is parsed once more. A number that is not an exact integer becomes an InexactNumber, which the
 * validator refuses; beyond 2^53 only plain digits count as an integer.
 */
export function exactNumbers(int64s: readonly Int64Path[]): Middleware<{ body: unknown }> {
  return {
    before: ({ event, internal }) => {
      let exactBody: unknown;
      for (const path of int64s) {
        makeExact(event.body, path, () => {
          exactBody ??= parseExactly(String(internal.bodyText));
          return exactBody;
        });
      }
    },
  };
}

/** `exact` returns the same value, parsed exactly. */
function makeExact(value: unknown, [member, ...further]: Int64Path, exact: () => unknown): void {
  // The validator refuses values of the wrong type.
  if (!isRecord(value) || member === undefined) return;
  for (const name of member === '*' ? Object.keys(value) : [member]) {
    const exactMember = () => {
      const record = exact();
      return isRecord(record) ? record[name] : undefined;
    };
    if (further.length > 0) makeExact(value[name], further, exactMember);
    else if (typeof value[name] === 'number') value[name] = exactMember();
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Any int64 has at most 19 digits; to make a BigInt of a million digits takes seconds. */
const PLAIN_DIGITS = /^-?\d{1,19}$/;

/** Returns the bigint of a text in plain digits, which may be beyond int64. */
export function wholeNumber(text: string): bigint | undefined {
  return PLAIN_DIGITS.test(text) ? BigInt(text) : undefined;
}

// TypeScript's types do not have the reviver's third argument yet.
type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

function parseExactly(bodyText: string): unknown {
  return parseWithSource(bodyText, (_, value, { source }) =>
    typeof value === 'number' ? exactNumber(value, source) : value,
  );
}

function exactNumber(value: number, source: string): bigint | InexactNumber {
  const digits = wholeNumber(source);
  if (digits !== undefined) return digits;
  return Number.isSafeInteger(value) && isInteger(source) ? BigInt(value) : new InexactNumber(value, source);
}

/** Whether a number has only zeros after its decimal point, as `7.0` and `1.5e1` have, and `1e-400` has not. */
function isInteger(source: string): boolean {
  const [, whole = '', decimals = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(source) ?? [];
  const shift = Number(exponent);
  const afterPoint = shift >= 0 ? decimals.slice(shift) : whole.slice(shift) + decimals;
  return /^0*$/.test(afterPoint);
}
