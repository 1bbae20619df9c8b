import { PlantStoreError } from './errors.ts';
import type { Middleware } from './request.ts';

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

/**
 * Gives the parsed body its whole `id` back, as a bigint: JSON.parse rounds beyond 2^53, and the
 * JSON parser's reviver is not told the source. A number that is no exact whole one becomes an
 * InexactNumber, for the validator to refuse; beyond 2^53 only plain digits count as whole.
 */
export function exactId(): Middleware<{ body: unknown }> {
  return {
    before: (request) => {
      const { body } = request.event;
      if (typeof body !== 'object' || body === null || !('id' in body)) return;
      body.id = Number.isSafeInteger(body.id) ? BigInt(Number(body.id)) : idFromSource(request.internal.bodyText);
    },
  };
}

/** 19 digits hold any int64; a million would take BigInt seconds. */
const PLAIN_DIGITS = /^-?\d{1,19}$/;

// TypeScript's own types do not know the reviver's third argument yet. An object has no source, nor the digits of one.
type Reviver = (key: string, value: unknown, context: { source: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => { id: unknown };

function idFromSource(bodyText: string): unknown {
  try {
    return parseWithSource(bodyText, (_, value, { source }) => {
      if (typeof value !== 'number') return value;
      return PLAIN_DIGITS.test(source) ? BigInt(source) : new InexactNumber(value, source);
    }).id;
  } catch {
    // The text was parsed once, so only its depth can be wrong.
    throw new PlantStoreError(400, 'The body is nested too deeply.');
  }
}
