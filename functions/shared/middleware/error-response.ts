import { PlantStoreError } from '../errors.ts';
import type { Middleware } from '../request.ts';
import { type ValidationError, validationMessage } from './validation-message.ts';

/** Turns whatever was thrown into a 400 with an Error (openapi.yaml, `components.schemas.Error`). */
export function errorResponse(): Middleware {
  return {
    onError: (request) => {
      const { error, headers, message } = plantStoreErrorOf(request.error);
      request.response = {
        statusCode: 400,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ error, message: visible(message) }),
      };
    },
  };
}

/** The error that a client is told about, whatever was thrown. */
export function plantStoreErrorOf(error: unknown): PlantStoreError {
  if (error instanceof PlantStoreError) return error;
  if (isOfValidator(error)) return new PlantStoreError(400, validationMessage(error.cause.data));
  const message = 'The request failed through a fault of ours. Repeating it is safe.';
  return new PlantStoreError(500, message, { cause: error });
}

/** Tells whether Middy's validator threw it. The error's class differs from version to version, its `cause` does not. */
function isOfValidator(error: unknown): error is { cause: { data: ValidationError[] } } {
  if (!(error instanceof Error && error.cause instanceof Object)) return false;
  return 'package' in error.cause && error.cause.package === '@middy/validator';
}

/** Replaces control characters, a byte order mark and the like, which a client would not see, by their escapes. */
function visible(message: string): string {
  return message.replaceAll(
    /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
