import { hash } from 'node:crypto';
import { Agent, get } from 'node:https';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose';
import { RememberedNames } from './remembered-names.ts';

/*
 * In the bundle this is a file of its own, loaded only where an identity provider is configured. So it shares no
 * class with the rest: an `instanceof` of another file would not know what is thrown here.
 */

/** What a token must be (RFC 7519, 4.1), and of which provider. */
export interface ProviderSettings {
  /** The provider's address, compared character by character with `iss`. */
  issuer: string;
  /** One of them must be in `aud`. */
  audiences: string[];
  /** A scope that a token must have, where one is asked for. */
  scope: string | undefined;
}

/** The name under which a token is logged, or why it is refused. */
export type Verdict = { name: string } | { refused: string; missingScope?: string };

/** From then on, the next request asks for the keys anew. */
const REFRESH_AFTER_MS = 600_000;
/** The time for which a key that the provider has withdrawn is trusted at most. */
const MAX_AGE_MS = 3_600_000;
/** Keys are not asked for more often, whatever callers send. */
const MIN_INTERVAL_MS = 5000;
/** While the keys are still trusted, a provider that is down has one request a minute wait in vain. */
const MIN_REFRESH_INTERVAL_MS = 60_000;
const MAX_ATTEMPTS = 2;
const ATTEMPT_MS = 1500;
/** Providers publish a few keys, of a few KB each where they have certificates. */
const MAX_BYTES = 256 * 1024;

/** RFC 8725, 3.1: those by a pair of keys; with a symmetric one, whoever may verify could issue too. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const CLOCK_TOLERANCE_S = 60;
/** RFC 7515, 4.1: by these a token would name the key that it is to be verified by. */
const KEYS_OF_ITS_OWN = ['jwk', 'jku', 'x5u'];
/** RFC 9068, 2.1, and what providers write that do not keep to it; an ID token may be a "JWT" too. */
const ACCESS_TOKEN_TYPES = ['at+jwt', 'application/at+jwt', 'jwt'];
/** What only an ID token has (OpenID Connect Core 1.0, 2 and 3.3.2.11). */
const CLAIMS_OF_ID_TOKENS = ['nonce', 'at_hash', 'c_hash'];
/** RFC 7800, 3: the token is bound to a key whose proof nobody asks for here; a thief could use it as if it were not. */
const CONFIRMATION = 'cnf';

/** An OpenID Connect provider, or an authorization server of OAuth 2.0, whose JWTs are access tokens here. */
export class IdentityProvider {
  readonly #settings: ProviderSettings;
  /** Of tokens that the keys of now have verified. */
  readonly #remembered = new RememberedNames();
  #keys: ReturnType<typeof createLocalJWKSet> | undefined;
  /** Milliseconds since 1970, as the others. */
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #attemptedAt = Number.NEGATIVE_INFINITY;
  #failure: unknown;
  #fetching: Promise<void> | undefined;

  constructor(settings: ProviderSettings) {
    this.#settings = settings;
  }

  /**
   * Fetches the keys at init, where Lambda gives more CPU, and pays there what a first verification by each costs: it
   * loads WebCrypto, and the key. Never fails: a provider that is down costs it one attempt, and the first token the
   * next.
   */
  async prime(): Promise<void> {
    await this.#fetch(MIN_INTERVAL_MS, 1).catch(() => {
      this.#attemptedAt = Number.NEGATIVE_INFINITY;
    });
    const { keys = [] } = this.#keys?.jwks() ?? {};
    await Promise.all(
      keys.map(async ({ alg = 'RS256', kid }) => {
        const header = Buffer.from(JSON.stringify({ alg, kid })).toString('base64url');
        await this.#verified(`${header}.e30.e30`).catch(() => {});
      }),
    );
  }

  /**
   * Whether a JWT is an access token for this service: RFC 7519, 7.2, RFC 8725 and RFC 9068, 4. Throws where the
   * provider's keys cannot be had, or cannot be used. One that passed is remembered for up to 60 s.
   */
  async verify(token: string): Promise<Verdict> {
    await this.#refresh();
    const digest = hash('sha256', token);
    const name = this.#remembered.get(digest);
    if (name !== undefined) return { name };
    try {
      const verified = await this.#verified(token).catch(async (error) => {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        // The provider may have a new key.
        await this.#fetch(MIN_INTERVAL_MS);
        return await this.#verified(token);
      });
      const verdict = this.#judge(verified);
      // The check asks for `exp`, and that it is a number.
      if ('name' in verdict)
        this.#remembered.set(digest, verdict.name, (Number(verified.payload.exp) + CLOCK_TOLERANCE_S) * 1000);
      return verdict;
    } catch (error) {
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSInvalid))
        return { refused: error.message };
      throw error;
    }
  }

  async #verified(token: string): Promise<JWTVerifyResult> {
    if (!this.#keys) throw new Error('There are no keys.');
    return await jwtVerify(token, this.#keys, {
      issuer: this.#settings.issuer,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_S,
    });
  }

  /** What a signature, an issuer and a time do not say: whether the token is for this service, and an access token. */
  #judge({ protectedHeader, payload }: JWTVerifyResult): Verdict {
    const { issuer, audiences, scope } = this.#settings;
    const key = KEYS_OF_ITS_OWN.find((name) => name in protectedHeader);
    if (key !== undefined) return { refused: `its header has a key of its own ("${key}")` };
    if (!ACCESS_TOKEN_TYPES.includes(String(protectedHeader.typ ?? 'jwt').toLowerCase())) {
      return { refused: 'the "typ" of its header is not that of an access token' };
    }
    const claim = [...CLAIMS_OF_ID_TOKENS, CONFIRMATION].find((name) => name in payload) ?? wrongUse(payload);
    if (claim !== undefined) return { refused: `by its claim "${claim}" it is not a bearer access token` };
    if (!audiences.some((audience) => audiencesOf(payload).includes(audience))) {
      return { refused: 'its claim "aud" does not name this service' };
    }
    if (scope !== undefined && !scopesOf(payload).includes(scope)) {
      return { refused: `it lacks the scope "${scope}"`, missingScope: scope };
    }
    const { sub, client_id: client } = payload;
    // Who it is can be found by whoever knows it, and by nobody else.
    return { name: `${new URL(issuer).host}/${hash('sha256', String(sub ?? client)).slice(0, 12)}` };
  }

  /** Fetches the keys where they are missing or due. Throws where they are too old to be trusted. */
  async #refresh(): Promise<void> {
    const age = Date.now() - this.#fetchedAt;
    if (age >= MAX_AGE_MS) await this.#fetch(MIN_INTERVAL_MS);
    else if (age >= REFRESH_AFTER_MS) await this.#fetch(MIN_REFRESH_INTERVAL_MS).catch(() => {});
  }

  /** Fetches the keys, unless that was tried within the interval: then it ends as that did. */
  async #fetch(interval: number, attempts = MAX_ATTEMPTS): Promise<void> {
    if (this.#fetching) return await this.#fetching;
    const now = Date.now();
    if (now - this.#attemptedAt < interval) {
      if (this.#failure) throw this.#failure;
      return;
    }
    this.#attemptedAt = now;
    this.#fetching = publishedKeys(this.#settings.issuer, attempts)
      .then((keys) => {
        this.#keys = createLocalJWKSet(keys);
        this.#remembered.clear();
        this.#fetchedAt = now;
        this.#failure = undefined;
      })
      .catch((error) => {
        this.#failure = error;
        throw error;
      })
      .finally(() => {
        this.#fetching = undefined;
      });
    return await this.#fetching;
  }
}

/** The claim by which a provider says that a token is for something else: Cognito's `token_use`, Keycloak's `typ`. */
function wrongUse({ token_use: use = 'access', typ = 'Bearer' }: JWTPayload): string | undefined {
  if (use !== 'access') return 'token_use';
  return typ === 'Bearer' ? undefined : 'typ';
}

/** Cognito's access tokens have the client's id in the place of an audience. */
function audiencesOf({ aud, token_use: use, client_id: client }: JWTPayload): unknown[] {
  if (aud === undefined && use === 'access') return [client];
  return [aud].flat();
}

/** RFC 9068, 2.2.3; Okta's and Entra's `scp`; the `roles` that Entra gives to programs. */
function scopesOf({ scope = '', scp = '', roles = [] }: JWTPayload): unknown[] {
  return [scope, scp, roles].flat().flatMap((value) => (typeof value === 'string' ? value.split(' ') : []));
}

/** The provider's keys, found by discovery. Throws what went wrong last where it cannot be asked. */
async function publishedKeys(issuer: string, attempts: number): Promise<JSONWebKeySet> {
  let failure: unknown;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    // One connection for both, and none that is kept until the provider has closed it.
    const agent = new Agent({ keepAlive: true });
    const options = { agent, signal: AbortSignal.timeout(ATTEMPT_MS) };
    try {
      // TypeScript does not know what is in there; createLocalJWKSet looks.
      return (await getJson(await keysAddress(issuer, options), options)) as unknown as JSONWebKeySet;
    } catch (error) {
      failure = error;
    } finally {
      agent.destroy();
    }
  }
  throw failure;
}

interface GetOptions {
  agent: Agent;
  signal: AbortSignal;
}

/** `jwks_uri` of OpenID Connect Discovery 1.0, 4, or where there is nothing, of RFC 8414, 3. */
async function keysAddress(issuer: string, options: GetOptions): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const metadata = await getJson(`${origin}${path}/.well-known/openid-configuration`, options).catch(() =>
    getJson(`${origin}/.well-known/oauth-authorization-server${path}`, options),
  );
  const { issuer: named, jwks_uri: address } = metadata;
  if (named !== issuer) throw new Error(`The issuer of ${issuer} calls itself ${JSON.stringify(named)}.`);
  if (typeof address !== 'string') throw new Error(`The issuer ${issuer} has no "jwks_uri".`);
  return address;
}

/** A JSON object by HTTPS; any other address, status or content is an error, and so is a redirect. */
async function getJson(address: string, options: GetOptions): Promise<Record<string, unknown>> {
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
  const read = async (response: AsyncIterable<Buffer> & { statusCode?: number | undefined }) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    if (response.statusCode !== 200) throw new Error(`${address} answers status ${response.statusCode}.`);
    for await (const chunk of response) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw new Error(`${address} answers more than ${MAX_BYTES} bytes.`);
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString());
  };
  get(address, options, (response) => read(response).then(resolve, reject)).on('error', reject);
  return await promise;
}
