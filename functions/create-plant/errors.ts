/**
 * The error numbers of the contract and when each is answered: the `error` of every Error body,
 * whether this function or the gateway in front of it makes it.
 *
 * Source: openapi.yaml, `components.schemas.Error`.
 */
export const errors = {
  400: 'the body is not JSON, or not a NewPlant (the message names each member and what it must be)',
  401: 'no token, a malformed, unknown, expired or revoked one; decided before the body is looked at',
  404: 'no such path or method',
  409: 'the id is in use by a different plant (nothing is changed)',
  413: 'too large for the store (an item of 400 KB) or for the gateway',
  415: 'the body is not declared as JSON',
  429: 'throttled, by the gateway or by the store',
  500: 'a fault of ours (the message says nothing of the inside; the log says all)',
  503: 'the store did not answer after retries',
  504: 'out of time',
} as const;

export type ErrorNumber = keyof typeof errors;

/** A failure the caller is told about: `message` is answered as it is, `cause` only logged. */
export class PlantStoreError extends Error {
  readonly error: ErrorNumber;

  constructor(error: ErrorNumber, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PlantStoreError';
    this.error = error;
  }
}
