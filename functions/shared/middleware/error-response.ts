import { PlantStoreError } from '../errors.ts';
import type { Middleware } from '../request.ts';
import { type ValidationError, validationMessage } from './validation-message.ts';

/** Makes whatever was thrown a 400 with an Error (openapi.yaml, `components.schemas.Error`). */
export function errorResponse(): Middleware {
  return {
    onError: (request) => {
      const failure = plantStoreErrorOf(request.error);
      request.response = {
        statusCode: 400,
        headers: { 'content-type': 'application/json', ...failure.headers },
        body: JSON.stringify({ error: failure.error, message: visible(failure.message) }),
      };
    },
  };
}

/** The error that a client is told about, whatever was thrown. */
export function plantStoreErrorOf(error: unknown): PlantStoreError {
  if (error instanceof PlantStoreError) return error;
  if (isMiddyError(error)) {
    const { package: thrower, data, message } = error.cause;
    if (thrower === '@middy/validator') return new PlantStoreError(400, validationMessage(data as ValidationError[]));
    if (thrower === '@middy/http-json-body-parser') return new PlantStoreError(400, notJson(data, message));
  }
  return new PlantStoreError(500, 'The request failed through a fault of ours. Repeating it is safe.', {
    cause: error,
  });
}

/** `data` is the body where it is no JSON, and the member's name where a member is forbidden. */
function notJson(data: unknown, parserMessage: string | undefined): string {
  if (parserMessage === undefined) {
    return `The body has a member "${data === 'constructor' ? 'constructor.prototype' : data}"; it must not.`;
  }
  return `The body was not JSON (${parserMessage}); it must be a JSON object.`;
}

/** Control characters, a byte order mark and the like, which a caller would not see, as their escapes. */
function visible(message: string): string {
  return message.replaceAll(
    /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}

interface MiddyError {
  statusCode: number;
  cause: { package: string; data?: unknown; message?: string };
}

/** Whether a Middy middleware threw it; its classes differ from version to version, its `cause` does not. */
function isMiddyError(error: unknown): error is MiddyError {
  if (!(error instanceof Error && 'statusCode' in error)) return false;
  return typeof error.cause === 'object' && error.cause !== null && 'package' in error.cause;
}
