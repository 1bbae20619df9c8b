import { isUtf8 } from 'node:buffer';
import { PlantStoreError } from './errors.ts';
import type { Middleware } from './request.ts';
import { shortened } from './validation-message.ts';

/**
 * Makes the body readable for the JSON parser: the media type in lower case and without parameters
 * (RFC 9110, 8.3.1), base64 decoded, the text kept beside the parsed body.
 * Throws 415 where the media type is not `application/json`; 400 where there is no body, or where its
 * bytes are not UTF-8 (RFC 8259, 8.1).
 */
export function readableBody(): Middleware {
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
      if (event.isBase64Encoded) {
        const bytes = Buffer.from(event.body, 'base64');
        // Decoding would put U+FFFD in place of what the caller meant.
        if (!isUtf8(bytes)) throw new PlantStoreError(400, 'The body was not UTF-8; it must be JSON in UTF-8.');
        event.body = bytes.toString();
        event.isBase64Encoded = false;
      }
      internal.bodyText = event.body;
    },
  };
}
