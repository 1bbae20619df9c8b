import { PlantStoreError } from './errors.ts';
import type { Middleware, Request } from './request.ts';

/**
 * Gives the parsed body its whole `id` back, as a bigint: JSON.parse rounds beyond 2^53, and the
 * JSON parser's reviver is not told the source. An id that is no whole number stays for the
 * validator to refuse; beyond 2^53 only plain digits count as whole.
 */
export function exactId(): Middleware<{ body: unknown }> {
  return {
    before: (request) => {
      const { body } = request.event;
      if (typeof body !== 'object' || body === null || !('id' in body)) return;
      if (Number.isSafeInteger(body.id)) body.id = BigInt(Number(body.id));
      else if (Number.isInteger(body.id)) body.id = idFromSource(request) ?? body.id;
    },
  };
}

/** 19 digits hold any int64; a million would take BigInt seconds. */
const PLAIN_DIGITS = /^-?\d{1,19}$/;

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;
// TypeScript's own types do not know the reviver's third argument yet.
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => { id: unknown };

function idFromSource({ internal: { bodyText = '' } }: Request<{ body: unknown }>): unknown {
  try {
    return parseWithSource(bodyText, (key, value, { source }) =>
      key === 'id' && source !== undefined && PLAIN_DIGITS.test(source) ? BigInt(source) : value,
    ).id;
  } catch (error) {
    // The text was parsed once, so only its depth can be wrong.
    throw new PlantStoreError(400, 'The body is nested too deeply.', { cause: error });
  }
}
