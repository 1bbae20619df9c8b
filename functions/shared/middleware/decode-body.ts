import { isUtf8 } from 'node:buffer';
import { PlantStoreError } from '../errors.ts';
import type { Middleware } from '../request.ts';
import { shortened } from './validation-message.ts';

/** A plant of 400 KB (DynamoDB's limit) has 2.46 MB if each of its characters is escaped, as in `\u0061`. */
const MAX_BODY_BYTES = 2_500_000;
/** Parsing takes about 1 µs for each value. The limit also bounds the nesting depth. */
const MAX_VALUES = 1000;

/**
 * Prepares the body for the JSON parser: reduces the media type to lower case without parameters (RFC 9110, 8.3.1),
 * decodes base64, and keeps the text beside the parsed body.
 * Throws 415 if the media type is not `application/json`; 413 if the body has more than 2,500,000 bytes or 1,000
 * values; 400 if there is no body, or its bytes are not UTF-8 (RFC 8259, 8.1).
 */
export function decodeBody(): Middleware {
  return {
    before: ({ event, internal }) => {
      const contentType = event.headers?.['content-type'];
      const mediaType = contentType?.replace(/;.*/s, '').trim().toLowerCase();
      if (mediaType !== 'application/json') {
        const was = contentType === undefined ? 'is missing' : `was ${JSON.stringify(shortened(contentType))}`;
        throw new PlantStoreError(415, `The Content-Type ${was}; it must be application/json.`);
      }
      event.headers['content-type'] = mediaType;
      if (!event.body) throw new PlantStoreError(400, 'The body is missing; it must be a JSON object.');
      if (Buffer.byteLength(event.body, event.isBase64Encoded ? 'base64' : 'utf8') > MAX_BODY_BYTES) {
        throw new PlantStoreError(413, 'The body is too large; it must have at most 2,500,000 bytes.');
      }
      if (event.isBase64Encoded) {
        const bytes = Buffer.from(event.body, 'base64');
        // Decoding would put U+FFFD in place of what the caller meant.
        if (!isUtf8(bytes)) throw new PlantStoreError(400, 'The body was not UTF-8; it must be JSON in UTF-8.');
        event.body = bytes.toString();
        event.isBase64Encoded = false;
      }
      if (hasTooManyValues(event.body)) {
        throw new PlantStoreError(413, 'The body has too many values; it must have at most 1,000.');
      }
      internal.bodyText = event.body;
    },
  };
}

/** Counts commas and opening brackets outside of strings, which is faster than to parse the values. */
function hasTooManyValues(json: string): boolean {
  let values = 0;
  let inString = false;
  for (let at = 0; at < json.length && values <= MAX_VALUES; at += 1) {
    const character = json[at];
    if (character === '"') inString = !inString;
    else if (character === '\\') at += 1;
    else if (!inString && (character === ',' || character === '[' || character === '{')) values += 1;
  }
  return values > MAX_VALUES;
}
