import { hash } from 'node:crypto';
import { errors, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose';
import { invalidToken, PlantStoreError } from '../errors.ts';
import { ALGORITHMS, type KeySet, ProviderKeys } from './provider-keys.ts';

/** The provider, and what its access tokens must contain (RFC 7519, 4.1). */
interface ProviderSettings {
  /** The provider's URL. A token's `iss` must be exactly equal. */
  issuer: string;
  /** A token's `aud` must contain at least one of them. */
  audiences: string[];
  /** The required scope. Default: none. */
  scope: string | undefined;
}

const CLOCK_TOLERANCE_S = 60;
/** RFC 7515, 4.1: with these headers a token would choose its own verification key. */
const EMBEDDED_KEY_HEADERS = ['jwk', 'jku', 'x5u'];
/** RFC 9068, 2.1, and "JWT", which some providers use instead. ID tokens may have it too, so the claims are checked. */
const ACCESS_TOKEN_TYPES = ['at+jwt', 'application/at+jwt', 'jwt'];
/**
 * The first three exist only in ID tokens (OpenID Connect Core 1.0, 2 and 3.3.2.11). `cnf` binds a token to its owner's
 * key (RFC 7800, 3). The service does not verify that key, so it would accept a stolen token.
 */
const DISALLOWED_CLAIMS = ['nonce', 'at_hash', 'c_hash', 'cnf'];

/** Verifies the access tokens (JWTs) of an OpenID Connect provider or OAuth 2.0 authorization server. */
export class JwtVerifier {
  readonly keys: ProviderKeys;
  readonly #settings: ProviderSettings;

  constructor(settings: ProviderSettings) {
    this.#settings = settings;
    this.keys = new ProviderKeys(settings.issuer);
  }

  /**
   * Verifies that a JWT is an access token for this service (RFC 7519, 7.2; RFC 8725; RFC 9068, 4). Returns a name for
   * the log. Caches a valid token for up to 60 s.
   *
   * @throws 401 for any other token; 503 if the provider's keys are not available or not usable.
   */
  async verify(token: string): Promise<string> {
    const keySet = await this.keys.get().catch(unavailable);
    try {
      return await this.#verifyWith(keySet, token).catch(async (error) => {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        // The provider may have a new key.
        return await this.#verifyWith(await this.keys.refetch().catch(unavailable), token);
      });
    } catch (error) {
      throw error instanceof errors.JOSEError ? notValid(error.message) : error;
    }
  }

  async #verifyWith({ findKey, cache }: KeySet, token: string): Promise<string> {
    const digest = hash('sha256', token);
    const cached = cache.get(digest);
    if (cached !== undefined) return cached;
    const verified = await jwtVerify(token, findKey, {
      issuer: this.#settings.issuer,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_S,
    });
    const name = this.#checkClaims(verified);
    cache.set(digest, name, (Number(verified.payload.exp) + CLOCK_TOLERANCE_S) * 1000);
    return name;
  }

  /** Checks what `jwtVerify` does not: the kind of token, the audience, the scope and the subject. Returns the name. */
  #checkClaims({ protectedHeader, payload }: JWTVerifyResult): string {
    const { issuer, audiences, scope } = this.#settings;
    const key = EMBEDDED_KEY_HEADERS.find((name) => name in protectedHeader);
    if (key !== undefined) throw notValid(`its header contains "${key}", which is not allowed`);
    const { typ = 'jwt' }: { typ?: unknown } = protectedHeader;
    if (typeof typ !== 'string' || !ACCESS_TOKEN_TYPES.includes(typ.toLowerCase())) {
      throw notValid('the "typ" of its header is not that of an access token');
    }
    const claim = DISALLOWED_CLAIMS.find((name) => name in payload) ?? claimOfOtherTokenKind(payload);
    if (claim !== undefined) throw notValid(`its claim "${claim}" shows that it is not a bearer access token`);
    if (!audiences.some((audience) => audiencesOf(payload).includes(audience))) {
      throw notValid('its claim "aud" does not name this service');
    }
    if (scope !== undefined && !scopesOf(payload).includes(scope)) {
      throw notValid(`it does not have the scope "${scope}"`);
    }
    const { client_id: client, sub: subject = client } = payload;
    if (typeof subject !== 'string') {
      throw notValid('its claim "sub" (or "client_id", without "sub") is not a string');
    }
    // The digest keeps personal data out of the log, and still identifies a known subject.
    return `${new URL(issuer).host}/${hash('sha256', subject).slice(0, 12)}`;
  }
}

function notValid(reason: string): PlantStoreError {
  return invalidToken(`The access token is not valid: ${reason}.`);
}

function unavailable(cause: Error): never {
  const message = 'The identity provider failed or did not respond. Repeating the request is safe.';
  throw new PlantStoreError(503, message, { cause });
}

/** Returns the claim that marks a token of another kind: Cognito's `token_use`, Keycloak's `typ`. */
function claimOfOtherTokenKind({ token_use: use = 'access', typ = 'Bearer' }: JWTPayload): string | undefined {
  if (use !== 'access') return 'token_use';
  return typ === 'Bearer' ? undefined : 'typ';
}

/** Cognito's access tokens have the client's id instead of an audience. */
function audiencesOf({ aud, token_use: use, client_id: client }: JWTPayload): unknown[] {
  return aud === undefined && use === 'access' ? [client] : [aud].flat();
}

/** Collects `scope` (RFC 9068, 2.2.3), `scp` of Okta and Entra, and `roles` of Entra's applications. */
function scopesOf({ scope = '', scp = '', roles = [] }: JWTPayload): unknown[] {
  return [scope, scp, roles].flat().flatMap((value) => (typeof value === 'string' ? value.split(' ') : []));
}
