import { ACCESS_TOKEN_PATTERN } from './access-token.ts';
import type { AccessTokensTable } from './access-tokens-table.ts';
import { CHALLENGE, PlantStoreError } from './errors.ts';
import type { Middleware } from './request.ts';

/** RFC 6750, 2.1: the scheme in any case (RFC 9110, 11.1), spaces, the token. */
const BEARER_CREDENTIALS = /^bearer +(\S+)$/i;

/** For a caller who sent a bearer token, whatever is wrong with it (RFC 6750, 3.1). */
const INVALID_TOKEN = { headers: { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` } };

/**
 * Lets a request pass whose Authorization header holds a valid access token, and keeps the token's
 * name. Throws 401 for any other, with the challenge of RFC 6750, section 3; what the database throws
 * where the token cannot be looked up.
 */
export function bearerAuth(accessTokens: AccessTokensTable): Middleware {
  return {
    before: async ({ event, context, internal }) => {
      const authorization = event.headers?.['authorization'];
      if (authorization === undefined) {
        throw new PlantStoreError(401, 'The Authorization header is missing; it must be "Bearer <ACCESS_TOKEN>".');
      }
      const token = BEARER_CREDENTIALS.exec(authorization.trim())?.[1];
      // A token of the wrong form never costs a read of the database.
      if (token === undefined || !ACCESS_TOKEN_PATTERN.test(token)) {
        throw new PlantStoreError(
          401,
          'The Authorization header is malformed; it must be "Bearer <ACCESS_TOKEN>", the token being "plantstore_" and 43 letters or digits.',
          /^bearer +\S/i.test(authorization.trim()) ? INVALID_TOKEN : {},
        );
      }
      const name = await accessTokens.verify(token, context);
      if (name === undefined) {
        throw new PlantStoreError(401, 'The access token is unknown, expired or revoked.', INVALID_TOKEN);
      }
      internal.tokenName = name;
    },
  };
}
