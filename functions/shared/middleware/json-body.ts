import { isUtf8 } from 'node:buffer';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { PlantStoreError } from '../errors.ts';
import type { Middleware, Request } from '../request.ts';
import { type Int64Path, makeExact, parsedExactly } from './exact-numbers.ts';
import { shortened } from './validation-message.ts';

/** A plant of 400 KB (DynamoDB's limit) has 2.46 MB if each of its characters is escaped, as in `\u0061`. */
const MAX_BODY_BYTES = 2_500_000;
/** Parsing takes about 1 µs for each value. The limit also bounds the nesting depth. */
const MAX_VALUES = 1000;

/**
 * Parses the body. Each int64 of the schema becomes a bigint, or an InexactNumber, which the validator refuses.
 * Throws 415 if the media type is not `application/json` (RFC 9110, 8.3.1); 413 if the body has more than 2,500,000
 * bytes or 1,000 values; 400 if there is no body, its bytes are not UTF-8 (RFC 8259, 8.1), it is not JSON, or a member
 * would change a prototype.
 */
export function jsonBody(int64s: readonly Int64Path[]): Middleware {
  const parser = httpJsonBodyParser({ disableContentTypeCheck: true });
  return {
    before: (request) => {
      const { event } = request;
      requireJson(event.headers?.['content-type']);
      const text = textOf(event);
      if (hasTooManyValues(text)) {
        throw new PlantStoreError(413, 'The body has too many values; it must have at most 1,000.');
      }
      Object.assign(event, { body: text, isBase64Encoded: false });
      parse(parser, request);
      for (const path of int64s) makeExact(path, event.body, parsedExactly(text));
    },
  };
}

function requireJson(contentType: string | undefined): void {
  if (contentType?.replace(/;.*/s, '').trim().toLowerCase() === 'application/json') return;
  const was = contentType === undefined ? 'is missing' : `was ${JSON.stringify(shortened(contentType))}`;
  throw new PlantStoreError(415, `The Content-Type ${was}; it must be application/json.`);
}

function textOf({ body, isBase64Encoded }: APIGatewayProxyEvent): string {
  if (!body) throw new PlantStoreError(400, 'The body is missing; it must be a JSON object.');
  if (Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8') > MAX_BODY_BYTES) {
    throw new PlantStoreError(413, 'The body is too large; it must have at most 2,500,000 bytes.');
  }
  if (!isBase64Encoded) return body;
  const bytes = Buffer.from(body, 'base64');
  // Decoding would put U+FFFD in place of what the client meant.
  if (!isUtf8(bytes)) throw new PlantStoreError(400, 'The body was not UTF-8; it must be JSON in UTF-8.');
  return bytes.toString();
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

/** Throws 400 with the reason that the parser gives. */
function parse({ before }: ReturnType<typeof httpJsonBodyParser>, request: Request): void {
  try {
    before?.(request);
  } catch (error) {
    const { data, message } = (error as { cause: { data?: unknown; message?: string } }).cause;
    const member = data === 'constructor' ? 'constructor.prototype' : data;
    const reason =
      message === undefined
        ? `The body has a member "${member}"; it must not.`
        : `The body was not JSON (${message}); it must be a JSON object.`;
    throw new PlantStoreError(400, reason);
  }
}
