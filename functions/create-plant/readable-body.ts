import { isUtf8 } from 'node:buffer';
import { PlantStoreError } from './errors.ts';
import type { Middleware } from './request.ts';

/**
 * Makes the body and its media type readable for the JSON parser: base64 decoded, parameters and
 * white space of the Content-Type left out (RFC 9110, 8.3.1), the text kept beside the parsed body.
 * Throws 400 where the bytes are not UTF-8 (RFC 8259, 8.1).
 */
export function readableBody(): Middleware {
  return {
    before: ({ event, internal }) => {
      const contentType = event.headers?.['content-type'];
      // The parser refuses white space before the semicolon.
      if (contentType) event.headers['content-type'] = contentType.replace(/;.*/s, '').trim();
      if (event.body !== null && event.isBase64Encoded) {
        const bytes = Buffer.from(event.body, 'base64');
        // Decoding would put U+FFFD in place of what the caller meant.
        if (!isUtf8(bytes)) throw new PlantStoreError(400, 'The body must be JSON in UTF-8, but was not UTF-8.');
        event.body = bytes.toString();
        event.isBase64Encoded = false;
      }
      // A missing body is parsed as null.
      internal.bodyText = String(event.body);
    },
  };
}
