import { inspect } from 'node:util';

/** The classes of the errors that JavaScript itself throws, because of a mistake in the code. */
const PROGRAMMING_ERRORS = [TypeError, ReferenceError, RangeError, SyntaxError];

/**
 * Returns an error's message, for a person. For a programming error, returns its stack too, and those of its causes.
 */
export function errorText(error: unknown): string {
  return error instanceof Error && error.message && !isProgrammingError(error) ? error.message : inspect(error);
}

function isProgrammingError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return PROGRAMMING_ERRORS.some((each) => error instanceof each) || isProgrammingError(error.cause);
}
