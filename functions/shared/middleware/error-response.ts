import { INTERNAL_ERROR_MESSAGE, PlantStoreError } from '../errors.ts';
import type { Middleware } from '../request.ts';
import { type ValidationError, validationMessage } from './validation-message.ts';

/** Turns a thrown value into a 400 response with an Error (openapi.yaml, `components.schemas.Error`). */
export function errorResponse(): Middleware {
  return {
    onError: (request) => {
      const thrown = toPlantStoreError(request.error);
      // requestLog, which comes later, logs the same error.
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

/** The error to send to the client: 400 for a validation error, 500 for any unexpected value. */
export function toPlantStoreError(thrown: unknown): PlantStoreError {
  if (thrown instanceof PlantStoreError) return thrown;
  if (isValidationError(thrown)) return new PlantStoreError(400, validationMessage(thrown.cause.data));
  return new PlantStoreError(500, INTERNAL_ERROR_MESSAGE, { cause: thrown });
}

/** Recognizes an error of Middy's validator by its `cause`, because its class differs between Middy's versions. */
function isValidationError(thrown: unknown): thrown is { cause: { data: ValidationError[] } } {
  if (!(thrown instanceof Error && thrown.cause instanceof Object)) return false;
  return 'package' in thrown.cause && thrown.cause.package === '@middy/validator';
}
