import type { IdentityProvider } from '../access-tokens/identity-provider.mjs';
import { ACCESS_TOKEN_PATTERN } from '../access-tokens/token.ts';
import type { TokensTable } from '../access-tokens/tokens-table.ts';
import { CHALLENGE, PlantStoreError } from '../errors.ts';
import type { Middleware } from '../request.ts';

/** RFC 6750, 2.1: the scheme in any case (RFC 9110, 11.1), spaces, the token. */
const BEARER_CREDENTIALS = /^bearer +(\S+)$/i;
/** The form of a JWT, and no more; the signature may be empty, which the provider's check refuses. */
const JWT_PATTERN = /^[\w-]+\.[\w-]+\.[\w-]*$/;
/** In characters. A longer token is refused before its signature is checked. */
const MAX_JWT_LENGTH = 8192;

const OPAQUE_FORM = '"plantstore_" and 43 letters or digits';

/** What access tokens are checked against. Without a provider, JWTs are refused. */
interface AccessTokens {
  table: TokensTable;
  identityProvider?: IdentityProvider | undefined;
}

/**
 * Requires an Authorization header with a valid access token: an opaque one of the service, or a JWT of the identity
 * provider. Keeps the token's name for the log.
 * Throws 401, with the challenge of RFC 6750, section 3, if there is none; 503 if the provider's keys are not available;
 * as `DynamoDb.send` does if the table is not.
 */
export function bearerAuth({ table, identityProvider }: AccessTokens): Middleware {
  const forms = identityProvider ? `${OPAQUE_FORM}, or a JWT of at most ${MAX_JWT_LENGTH} characters` : OPAQUE_FORM;
  return {
    before: async ({ event, context, internal }) => {
      const authorization = event.headers?.['authorization']?.trim();
      if (authorization === undefined) {
        throw new PlantStoreError(401, 'The Authorization header is missing; it must be "Bearer <ACCESS_TOKEN>".');
      }
      const token = BEARER_CREDENTIALS.exec(authorization)?.[1] ?? '';
      if (ACCESS_TOKEN_PATTERN.test(token)) {
        const name = await table.verify(token, context);
        if (name === undefined) throw invalidToken('The access token is unknown, expired or revoked.');
        internal.tokenName = name;
      } else if (identityProvider && token.length <= MAX_JWT_LENGTH && JWT_PATTERN.test(token)) {
        internal.tokenName = await jwtName(identityProvider, token);
      } else {
        // A token of the wrong form never costs a read of the database.
        const message = `The Authorization header is malformed; it must be "Bearer <ACCESS_TOKEN>", the token being ${forms}.`;
        throw /^bearer +\S/i.test(authorization) ? invalidToken(message) : new PlantStoreError(401, message);
      }
    },
  };
}

/** @throws what the client is told if the provider refuses the token or does not answer. */
async function jwtName(identityProvider: IdentityProvider, token: string): Promise<string> {
  const verdict = await identityProvider.verify(token).catch((cause) => {
    throw new PlantStoreError(503, 'The identity provider did not answer. Repeating the request is safe.', { cause });
  });
  if ('name' in verdict) return verdict.name;
  const { refused, missingScope } = verdict;
  const message = `The access token is not valid: ${refused}.`;
  throw missingScope === undefined
    ? invalidToken(message)
    : invalidToken(message, `error="insufficient_scope", scope="${missingScope}"`);
}

/** An error for a request with a bearer token (RFC 6750, 3.1). */
function invalidToken(message: string, problem = 'error="invalid_token"'): PlantStoreError {
  return new PlantStoreError(401, message, { headers: { 'WWW-Authenticate': `${CHALLENGE}, ${problem}` } });
}
