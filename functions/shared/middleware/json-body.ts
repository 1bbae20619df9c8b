import { isUtf8 } from 'node:buffer';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { PlantStoreError } from '../errors.ts';
import type { Middleware, Request } from '../request.ts';
import { type Int64Path, parseExactly, replaceInt64s } from './exact-numbers.ts';
import { truncate } from './validation-message.ts';

/** A plant of 400 KB (DynamoDB's limit) is 2.46 MB of JSON if every character is escaped, as in `\u0061`. */
const MAX_BODY_BYTES = 2_500_000;
/** Parsing takes about 1 µs per value. This limit also limits the nesting depth. */
const MAX_VALUES = 1000;

/**
 * Parses the body. Each int64 of the schema becomes a bigint, or an InexactNumber, which the validator rejects.
 *
 * @throws 415 if the media type is not `application/json` (RFC 9110, 8.3.1); 413 if the body has more than 2,500,000
 * bytes or 1,000 values; 400 if the body is missing, is not UTF-8 (RFC 8259, 8.1), is not JSON, or has the member
 * `__proto__` or `constructor.prototype`.
 */
export function jsonBody(int64s: readonly Int64Path[]): Middleware {
  const parser = httpJsonBodyParser({ disableContentTypeCheck: true });
  return {
    before: (request) => {
      const { event } = request;
      requireJson(event.headers?.['content-type']);
      const text = decodeBody(event);
      if (hasTooManyValues(text)) {
        throw new PlantStoreError(413, 'The body has too many values; it must have at most 1,000.');
      }
      Object.assign(event, { body: text, isBase64Encoded: false });
      parseJson(parser, request);
      const exactBody = parseExactly(text);
      for (const path of int64s) replaceInt64s(path, event.body, exactBody);
    },
  };
}

function requireJson(contentType: string | undefined): void {
  if (contentType?.replace(/;.*/s, '').trim().toLowerCase() === 'application/json') return;
  const problem = contentType === undefined ? 'is missing' : `was ${JSON.stringify(truncate(contentType))}`;
  throw new PlantStoreError(415, `The Content-Type ${problem}; it must be application/json.`);
}

function decodeBody({ body, isBase64Encoded }: APIGatewayProxyEvent): string {
  if (!body) throw new PlantStoreError(400, 'The body is missing; it must be a JSON object.');
  if (Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8') > MAX_BODY_BYTES) {
    throw new PlantStoreError(413, 'The body is too large; it must have at most 2,500,000 bytes.');
  }
  if (!isBase64Encoded) return body;
  const bytes = Buffer.from(body, 'base64');
  // toString would silently replace invalid bytes with U+FFFD.
  if (!isUtf8(bytes)) throw new PlantStoreError(400, 'The body was not UTF-8; it must be JSON in UTF-8.');
  return bytes.toString();
}

/** Counts commas and opening brackets outside of strings: about one for each value, and faster than parsing. */
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

/** Runs Middy's parser. Throws 400 with the parser's reason. */
function parseJson({ before }: ReturnType<typeof httpJsonBodyParser>, request: Request): void {
  try {
    before?.(request);
  } catch (error) {
    const { data, message } = (error as { cause: { data?: unknown; message?: string } }).cause;
    const member = data === 'constructor' ? 'constructor.prototype' : data;
    const reason =
      message === undefined
        ? `The body has the member "${member}", which is not allowed.`
        : `The body was not JSON (${message}); it must be a JSON object.`;
    throw new PlantStoreError(400, reason);
  }
}
