import { INTERNAL_ERROR_MESSAGE, PlantStoreError } from '../errors.ts';
import { parserMessage, type ValidationError, validationMessage } from './messages.ts';
import type { Middleware, SentParts } from './middleware.ts';

/** Turns a thrown value into a 400 response with an Error (openapi.yaml, `components.schemas.Error`). */
export function errorResponse(): Middleware {
  return {
    onError: (request) => {
      const thrown = toPlantStoreError(request.error, request.internal.asSent);
      // An error passes from bottom to top, so requestLog comes later and logs the same error.
      request.error = thrown;
      const { error, headers, message } = thrown;
      request.response = {
        statusCode: 400,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ error, message }),
      };
    },
  };
}

/** The error to send to the client: 400 for what Middy's parser or validator rejects, 500 for any unexpected value. */
export function toPlantStoreError(thrown: unknown, sent: SentParts = {}): PlantStoreError {
  if (thrown instanceof PlantStoreError) return thrown;
  const { package: rejectedBy, data, message } = middyCause(thrown);
  if (rejectedBy === '@middy/http-json-body-parser') return new PlantStoreError(400, parserMessage(data, message));
  if (rejectedBy === '@middy/validator') {
    // The validator's `data` are the errors of the compiled schema.
    return new PlantStoreError(400, validationMessage(data as ValidationError[], sent));
  }
  return new PlantStoreError(500, INTERNAL_ERROR_MESSAGE, { cause: thrown });
}

/**
 * Returns the cause of an error, in which Middy's errors name their package. They cannot be recognized by their class,
 * which differs between Middy's versions.
 */
function middyCause(thrown: unknown): { package?: unknown; data?: unknown; message?: string } {
  return thrown instanceof Error ? Object(thrown.cause) : {};
}
