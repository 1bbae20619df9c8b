import httpJsonBodyParser from '@middy/http-json-body-parser';
import { PlantStoreError, truncate } from '../errors.ts';
import { parseWithExactNumbers } from './exact-numbers.ts';
import type { ApiEvent, Middleware } from './types.ts';

/** An item of 400 KB, DynamoDB's maximum, is 2.46 MB of JSON if every character is escaped, as in `\u0061`. */
const MAX_BODY_BYTES = 2_500_000;
/** A body has few members. Parsing a million values, which fit into 2.5 MB, takes seconds. Also limits the depth. */
const MAX_VALUES = 1000;
/** Only spaces and tabs may be around it (RFC 9110, 5.6.3). `String.trim` would also remove a no-break space. */
const JSON_TYPE = /^[ \t]*application\/json[ \t]*(;|$)/i;
/** Throws for invalid bytes, which `toString` would silently replace with U+FFFD. Keeps a byte order mark. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses the body with exact numbers. Middy's parser rejects what is not JSON, and the members `__proto__` and
 * `constructor.prototype`. It would also reject some valid media types, replace bytes that are not UTF-8, quote a byte
 * order mark, and round large numbers. So this middleware checks the media type and the bytes itself (RFC 9110, 8.3.1;
 * RFC 8259, 8.1), and parses the text again.
 *
 * @throws 415 for another media type; 413 for a body that is too large; 400 for any other that is invalid.
 */
export function jsonBody(): Middleware {
  // TypeScript rejects Middy's parser, because the body of its event is a text. The parser uses only the body.
  const parser = httpJsonBodyParser({ disableContentTypeCheck: true }) as Middleware;
  return {
    before: (request) => {
      const { event } = request;
      requireJson(event.headers?.['content-type']);
      const text = decodeBody(event);
      if (text.startsWith('\ufeff'))
        throw new PlantStoreError(400, 'The body has a byte order mark; it must be a JSON object without one.');
      if (hasTooManyValues(text))
        throw new PlantStoreError(413, 'The body has too many values; it must have at most 1,000.');
      Object.assign(event, { body: text, isBase64Encoded: false });
      parser.before?.(request);
      event.body = parseWithExactNumbers(text);
    },
  };
}

function requireJson(contentType: string | undefined): void {
  if (JSON_TYPE.test(contentType ?? '')) return;
  const problem = contentType === undefined ? 'is missing' : `was ${JSON.stringify(truncate(contentType))}`;
  throw new PlantStoreError(415, `The Content-Type ${problem}; it must be application/json.`);
}

function decodeBody({ body, isBase64Encoded }: ApiEvent): string {
  if (typeof body !== 'string' || body === '')
    throw new PlantStoreError(400, 'The body is missing; it must be a JSON object.');
  if (Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8') > MAX_BODY_BYTES)
    throw new PlantStoreError(413, 'The body is too large; it must have at most 2,500,000 bytes.');
  if (!isBase64Encoded) return body;
  try {
    return UTF8.decode(Buffer.from(body, 'base64'));
  } catch {
    throw new PlantStoreError(400, 'The body was not UTF-8; it must be JSON in UTF-8, without a Content-Encoding.');
  }
}

/** Counts commas and opening brackets outside of strings, because each value but the first comes after one. */
function hasTooManyValues(json: string): boolean {
  let values = 0;
  let inString = false;
  for (let index = 0; index < json.length && values <= MAX_VALUES; index += 1) {
    const character = json[index];
    if (character === '"') inString = !inString;
    else if (character === '\\') index += 1;
    else if (!inString && (character === ',' || character === '[' || character === '{')) values += 1;
  }
  return values > MAX_VALUES;
}
