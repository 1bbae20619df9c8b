import type { Middleware } from '../request.ts';

/** A number of the body that is no exact whole number, as it was sent. */
export class InexactNumber {
  readonly source: string;
  /** Whether it lies where only plain digits are exact: beyond 2^53, and within int64. */
  readonly needsPlainDigits: boolean;

  constructor(value: number, source: string) {
    this.source = source;
    this.needsPlainDigits = Math.abs(value) >= 2 ** 53 && Math.abs(value) <= 2 ** 63;
  }
}

/** Where a schema has an int64: the names of the members that lead to it, `*` for each item of an array. */
export type Int64Path = readonly string[];

/**
 * Makes each int64 of the parsed body a bigint: JSON.parse rounds beyond 2^53, and the JSON parser's
 * reviver is not told the source. A number that is no exact whole one becomes an InexactNumber, for the
 * validator to refuse; beyond 2^53 only plain digits count as whole.
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

/** `exact` is the same value, parsed exactly; few bodies need it. */
function makeExact(value: unknown, [member, ...further]: Int64Path, exact: () => unknown): void {
  // What has the wrong form, the validator refuses.
  if (!isRecord(value) || member === undefined) return;
  for (const name of member === '*' ? Object.keys(value) : [member]) {
    const exactMember = () => {
      const record = exact();
      return isRecord(record) ? record[name] : undefined;
    };
    if (further.length > 0) makeExact(value[name], further, exactMember);
    else if (Number.isSafeInteger(value[name])) value[name] = BigInt(Number(value[name]));
    else if (typeof value[name] === 'number') value[name] = exactMember();
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** 19 digits hold any int64; a million would take BigInt seconds. */
const PLAIN_DIGITS = /^-?\d{1,19}$/;

/** A text in plain digits as a bigint, which may lie beyond int64. */
export function wholeNumber(text: string): bigint | undefined {
  return PLAIN_DIGITS.test(text) ? BigInt(text) : undefined;
}

// TypeScript's own types do not know the reviver's third argument yet. An object has no source, nor the digits of one.
type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

function parseExactly(bodyText: string): unknown {
  return parseWithSource(bodyText, (_, value, { source }) =>
    typeof value === 'number' ? (wholeNumber(source) ?? new InexactNumber(value, source)) : value,
  );
}
