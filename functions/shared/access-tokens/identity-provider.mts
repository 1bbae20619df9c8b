import { hash } from 'node:crypto';
import { errors, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose';
import { ALGORITHMS, type KeySet, ProviderKeys } from './provider-keys.ts';

/*
 * This file is bundled apart, and loaded only if an identity provider is configured. It shares no class with the rest: an
 * `instanceof` there does not know what is thrown here.
 */

/** What an access token must be (RFC 7519, 4.1). */
interface ProviderSettings {
  /** The provider's address, compared character by character with `iss`. */
  issuer: string;
  /** One of them must be in `aud`. */
  audiences: string[];
  /** The required scope, if any. */
  scope: string | undefined;
}

/** The name under which a token is logged, or why it is refused. */
type Verdict = { name: string } | { refused: string; missingScope?: string };

const CLOCK_TOLERANCE_S = 60;
/** RFC 7515, 4.1: with these headers a token would choose its own verification key. */
const EMBEDDED_KEY_HEADERS = ['jwk', 'jku', 'x5u'];
/** RFC 9068, 2.1, and what providers write that do not keep to it; an ID token may be a "JWT" too. */
const ACCESS_TOKEN_TYPES = ['at+jwt', 'application/at+jwt', 'jwt'];
/**
 * Only an ID token has the first three (OpenID Connect Core 1.0, 2 and 3.3.2.11). `cnf` binds a token to a key (RFC 7800,
 * 3), of which no proof is required here: a thief could use the token.
 */
const CLAIMS_OF_OTHERS = ['nonce', 'at_hash', 'c_hash', 'cnf'];

/** An OpenID Connect provider, or an authorization server of OAuth 2.0, whose JWTs are access tokens here. */
export class IdentityProvider {
  readonly #settings: ProviderSettings;
  readonly #keys: ProviderKeys;

  constructor(settings: ProviderSettings) {
    this.#settings = settings;
    this.#keys = new ProviderKeys(settings.issuer);
  }

  /** Fetches and tries the keys at init, where Lambda gives more CPU. Never throws: the first token fetches them then. */
  async warmUp(): Promise<void> {
    await this.#keys.warmUp();
  }

  /**
   * Checks whether a JWT is an access token for this service: RFC 7519, 7.2, RFC 8725 and RFC 9068, 4. A valid one is
   * cached for up to 60 s. Throws if the provider's keys are not available, or not usable.
   */
  async verify(token: string): Promise<Verdict> {
    const keySet = await this.#keys.current();
    try {
      return await this.#verdict(token, keySet).catch(async (error) => {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        // The provider may have a new key.
        return await this.#verdict(token, await this.#keys.latest());
      });
    } catch (error) {
      if (error instanceof errors.JOSEError) return { refused: error.message };
      throw error;
    }
  }

  async #verdict(token: string, { keys, cache }: KeySet): Promise<Verdict> {
    const digest = hash('sha256', token);
    const name = cache.get(digest);
    if (name !== undefined) return { name };
    const verified = await jwtVerify(token, keys, {
      issuer: this.#settings.issuer,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_S,
    });
    const verdict = this.#checkClaims(verified);
    if ('name' in verdict) cache.set(digest, verdict.name, (Number(verified.payload.exp) + CLOCK_TOLERANCE_S) * 1000);
    return verdict;
  }

  /** Checks the remaining claims: whether it is an access token, for this service, with the required scope. */
  #checkClaims({ protectedHeader, payload }: JWTVerifyResult): Verdict {
    const { issuer, audiences, scope } = this.#settings;
    const key = EMBEDDED_KEY_HEADERS.find((name) => name in protectedHeader);
    if (key !== undefined) return { refused: `its header has a key of its own ("${key}")` };
    const { typ = 'jwt' }: { typ?: unknown } = protectedHeader;
    if (typeof typ !== 'string' || !ACCESS_TOKEN_TYPES.includes(typ.toLowerCase())) {
      return { refused: 'the "typ" of its header is not that of an access token' };
    }
    const claim = CLAIMS_OF_OTHERS.find((name) => name in payload) ?? wrongUse(payload);
    if (claim !== undefined) return { refused: `by its claim "${claim}" it is not a bearer access token` };
    if (!audiences.some((audience) => audiencesOf(payload).includes(audience))) {
      return { refused: 'its claim "aud" does not name this service' };
    }
    if (scope !== undefined && !scopesOf(payload).includes(scope)) {
      return { refused: `it lacks the scope "${scope}"`, missingScope: scope };
    }
    const { client_id: client, sub: subject = client } = payload;
    if (typeof subject !== 'string') return { refused: 'its claim "sub" (without it, "client_id") is not a string' };
    // The digest tells who it is to those who know the subject, and to nobody else.
    return { name: `${new URL(issuer).host}/${hash('sha256', subject).slice(0, 12)}` };
  }
}

/** The claim by which a provider says that a token is for something else: Cognito's `token_use`, Keycloak's `typ`. */
function wrongUse({ token_use: use = 'access', typ = 'Bearer' }: JWTPayload): string | undefined {
  if (use !== 'access') return 'token_use';
  return typ === 'Bearer' ? undefined : 'typ';
}

/** Cognito's access tokens have the client's id in place of an audience. */
function audiencesOf({ aud, token_use: use, client_id: client }: JWTPayload): unknown[] {
  return aud === undefined && use === 'access' ? [client] : [aud].flat();
}

/** RFC 9068, 2.2.3; Okta's and Entra's `scp`; the `roles` that Entra gives to programs. */
function scopesOf({ scope = '', scp = '', roles = [] }: JWTPayload): unknown[] {
  return [scope, scp, roles].flat().flatMap((value) => (typeof value === 'string' ? value.split(' ') : []));
}
