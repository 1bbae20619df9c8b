import middyValidator from '@middy/validator';
import type { Ajv } from 'ajv';
import type { Middleware } from './types.ts';

/** Returns Middy's validator with the compiled schema. `errorResponse` turns its errors into error 400. */
export function validator(validate: (event: unknown) => boolean): Middleware {
  // Middy's type is that of a compiler of schemas, but its code calls it as the compiled function.
  return middyValidator({ eventSchema: validate as unknown as Ajv });
}
