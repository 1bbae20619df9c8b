import { hash } from 'node:crypto';
import { errors, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose';
import { invalidTokenError, PlantStoreError } from '../errors.ts';
import { ProviderKeys } from './provider-keys.ts';

/** The provider, and what its access tokens must contain (RFC 7519, 4.1). */
interface ProviderSettings {
  /** The provider's URL. A token's `iss` must be exactly equal. */
  issuer: string;
  /** A token's `aud` must contain at least one of them. */
  audiences: string[];
  scope: string | undefined;
}

/** Only asymmetric algorithms (RFC 8725, 3.1): with a symmetric key, a verifier could also issue tokens. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');
const CLOCK_TOLERANCE_S = 60;
/** RFC 9068, 2.1, and "JWT" of some providers. ID tokens can have "JWT" too, so #checkClaims looks at the claims. */
const ACCESS_TOKEN_TYPES = ['at+jwt', 'application/at+jwt', 'jwt'];
/**
 * The first three exist only in ID tokens (OpenID Connect Core 1.0, 2 and 3.3.2.11). `cnf` binds a token to its owner's
 * key (RFC 7800, 3). The service does not verify that key, so it would accept a stolen token.
 */
const DISALLOWED_CLAIMS = ['nonce', 'at_hash', 'c_hash', 'cnf'];

export class JwtVerifier {
  readonly #settings: ProviderSettings;
  readonly #keys: ProviderKeys;

  constructor(settings: ProviderSettings) {
    this.#settings = settings;
    this.#keys = new ProviderKeys(settings.issuer);
  }

  /** Fetches the keys in init. Never throws: if the provider fails, requests with a JWT get error 503. */
  fetchKeys(): Promise<void> {
    return this.#keys.fetch();
  }

  /**
   * Verifies that a JWT is an access token for this service (RFC 8725; RFC 9068, 4). Returns a name for the log.
   *
   * @throws 401 for any other token; 503 if the provider's keys are not available.
   */
  async verify(token: string): Promise<string> {
    const verified = await jwtVerify(token, this.#keys.find, {
      issuer: this.#settings.issuer,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_S,
    }).catch((thrown) => {
      if (thrown instanceof PlantStoreError) throw thrown;
      // For a published key that is not usable, such as an RSA key of 1024 bits, jose and WebCrypto throw errors of
      // other classes. Every client can name that key in a token, so this must not be an internal error.
      throw notValid(thrown instanceof errors.JOSEError ? thrown.message : 'its key is not usable');
    });
    return this.#checkClaims(verified);
  }

  /** Checks what `jwtVerify` does not: the kind of token, the audience, the scope and the subject. Returns the name. */
  #checkClaims({ protectedHeader, payload }: JWTVerifyResult): string {
    const { issuer, audiences, scope } = this.#settings;
    const { typ = 'jwt' }: { typ?: unknown } = protectedHeader;
    if (typeof typ !== 'string' || !ACCESS_TOKEN_TYPES.includes(typ.toLowerCase()))
      throw notValid('the "typ" of its header is not that of an access token');
    const claim = DISALLOWED_CLAIMS.find((name) => name in payload) ?? claimOfOtherTokenKind(payload);
    if (claim !== undefined) throw notValid(`its claim "${claim}" shows that it is not a bearer access token`);
    if (!audiences.some((audience) => audiencesOf(payload).includes(audience)))
      throw notValid('its claim "aud" does not name this service');
    if (scope !== undefined && !scopesOf(payload).includes(scope))
      throw notValid(`it does not have the scope "${scope}"`);
    const { client_id: client, sub: subject = client } = payload;
    if (typeof subject !== 'string') throw notValid('its claim "sub" (or "client_id", without "sub") is not a string');
    // The digest is shorter than the subject and does not show it. Whoever guesses the subject can confirm it.
    return `${new URL(issuer).host}/${hash('sha256', subject).slice(0, 12)}`;
  }
}

function notValid(reason: string): PlantStoreError {
  return invalidTokenError(`The access token is not valid: ${reason}.`);
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
