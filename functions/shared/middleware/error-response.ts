import { PlantStoreError } from '../errors.ts';
import type { Middleware } from '../request.ts';
import { type ValidationError, validationMessage } from './validation-message.ts';

/** Turns a thrown value into a 400 response with an Error (openapi.yaml, `components.schemas.Error`). */
export function errorResponse(): Middleware {
  return {
    onError: (request) => {
      const { error, headers, message } = toPlantStoreError(request.error);
      request.response = {
        statusCode: 400,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ error, message }),
      };
    },
  };
}

/** The error to send to the client: 400 for a validation error, 500 for any unexpected value. */
export function toPlantStoreError(error: unknown): PlantStoreError {
  if (error instanceof PlantStoreError) return error;
  if (isValidationError(error)) return new PlantStoreError(400, validationMessage(error.cause.data));
  const message = 'The request failed because of an internal error. Repeating it is safe.';
  return new PlantStoreError(500, message, { cause: error });
}

/** Recognizes an error of Middy's validator by its `cause`, because its class differs between Middy's versions. */
function isValidationError(error: unknown): error is { cause: { data: ValidationError[] } } {
  if (!(error instanceof Error && error.cause instanceof Object)) return false;
  return 'package' in error.cause && error.cause.package === '@middy/validator';
}
