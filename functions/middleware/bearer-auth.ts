import { invalidTokenError, PlantStoreError, truncate } from '../errors.ts';
import { databaseTimeoutMs } from '../time-limits.ts';
import type { JwtVerifier } from '../tokens/jwt-verifier.ts';
import type { OpaqueTokenVerifier } from '../tokens/opaque-token-verifier.ts';
import { JWT_PATTERN, TOKEN_FORM, TOKEN_PATTERN } from '../tokens/token.ts';
import type { Middleware } from './types.ts';

/** RFC 6750, 2.1: the scheme, which is case-insensitive (RFC 9110, 11.1), spaces, and the token. */
const BEARER_CREDENTIALS = /^bearer +(\S.*)$/i;
/** Maximum accepted JWT length in characters. Longer tokens are rejected before the signature is checked. */
const MAX_JWT_LENGTH = 8192;
/** In characters. The commands create names of up to 64, but another program could store a name of any length. */
const MAX_NAME_LENGTH = 266;

interface TokenVerifiers {
  opaque: Pick<OpaqueTokenVerifier, 'verify'>;
  jwt?: Pick<JwtVerifier, 'verify'> | undefined;
}

/**
 * Requires an opaque token of the service, or a JWT of the identity provider. Adds the token's name to the event. Comes
 * before the body is parsed, so that a request without a token costs little.
 *
 * @throws 401 if there is no valid token; the errors of the verifiers.
 */
export function bearerAuth({ opaque, jwt }: TokenVerifiers): Middleware {
  const jwtFormat = jwt ? `, or a JWT of at most ${MAX_JWT_LENGTH} characters` : '';
  const malformed = `The Authorization header is malformed; it must be "Bearer <ACCESS_TOKEN>" with a token of the form ${TOKEN_FORM}${jwtFormat}.`;
  return {
    before: async ({ event, context }) => {
      const authorization = event.headers?.['authorization']?.trim();
      if (authorization === undefined)
        throw new PlantStoreError(401, 'The Authorization header is missing; it must be "Bearer <ACCESS_TOKEN>".');
      const token = BEARER_CREDENTIALS.exec(authorization)?.[1];
      if (token === undefined) throw new PlantStoreError(401, malformed);
      if (TOKEN_PATTERN.test(token)) {
        event.tokenName = truncate(await opaque.verify(token, databaseTimeoutMs(context)), MAX_NAME_LENGTH);
      } else if (jwt && token.length <= MAX_JWT_LENGTH && JWT_PATTERN.test(token)) {
        event.tokenName = await jwt.verify(token);
      } else {
        throw invalidTokenError(malformed);
      }
    },
  };
}
