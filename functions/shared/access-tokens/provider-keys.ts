import type { IncomingMessage } from 'node:http';
import { Agent, get, type RequestOptions } from 'node:https';
import { compactVerify, createLocalJWKSet, errors, type JWK } from 'jose';
import { TokenCache } from './token-cache.ts';

/** The age at which the next request fetches the keys again. */
const REFRESH_AFTER_MS = 600_000;
/** The age up to which keys are used while the provider does not respond. A key that it removes is valid that long. */
const MAX_AGE_MS = 3_600_000;
/** Limits the fetches that clients can cause by sending tokens signed with unknown keys. */
const MIN_FETCH_INTERVAL_MS = 5000;
/** While the provider is down and its keys are still valid, only one request per minute waits for a failing fetch. */
const RETRY_INTERVAL_MS = 60_000;
const MAX_ATTEMPTS = 2;
const ATTEMPT_TIMEOUT_MS = 1500;
/** Providers publish a few keys, each with at most a few KB of certificates. */
const MAX_BYTES = 256 * 1024;
/** Limits the CPU time for checking the keys. */
const MAX_KEYS = 100;

const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const ELLIPTIC_CURVES = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
/** Only asymmetric algorithms (RFC 8725, 3.1): with a symmetric key, a verifier could also issue tokens. */
export const ALGORITHMS = [...RSA, ...ELLIPTIC_CURVES];

/** A token for each algorithm, with a signature that is wrong for every key. */
const TRIAL_TOKENS = ALGORITHMS.map((alg) => `${Buffer.from(JSON.stringify({ alg })).toString('base64url')}.e30.e30`);

/** The keys of one fetch. Tokens that they verified are cached here, so that a new fetch also empties the cache. */
export interface KeySet {
  findKey: ReturnType<typeof createLocalJWKSet>;
  cache: TokenCache;
}

/** The published keys of an identity provider. `get` and `refetch` throw if a necessary fetch fails. */
export class ProviderKeys {
  readonly #issuer: string;
  /** `at` is in milliseconds since 1970. */
  #lastSuccess: { keySet: KeySet; at: number } | undefined;
  #lastFetch: { result: Promise<KeySet>; at: number } | undefined;

  constructor(issuer: string) {
    this.#issuer = issuer;
  }

  /** Fetches the keys at init, in one attempt. Never throws: the next request that needs them fetches them again. */
  async warmUp(): Promise<void> {
    await this.#fetch(MIN_FETCH_INTERVAL_MS, 1).catch(() => {
      this.#lastFetch = undefined;
    });
  }

  /** Returns the keys. Fetches them again after ten minutes; if that fails, uses them until they are an hour old. */
  async get(): Promise<KeySet> {
    const age = Date.now() - (this.#lastSuccess?.at ?? 0);
    if (!this.#lastSuccess || age >= MAX_AGE_MS) return await this.refetch();
    if (age >= REFRESH_AFTER_MS) await this.#fetch(RETRY_INTERVAL_MS).catch(() => {});
    return this.#lastSuccess.keySet;
  }

  /** Fetches the keys. Within five seconds of the last fetch, returns its keys or throws its error. */
  async refetch(): Promise<KeySet> {
    return await this.#fetch(MIN_FETCH_INTERVAL_MS);
  }

  /** Fetches the keys, or returns the result of the last fetch if that is younger than the interval. */
  async #fetch(interval: number, attempts = MAX_ATTEMPTS): Promise<KeySet> {
    const now = Date.now();
    if (!this.#lastFetch || now - this.#lastFetch.at >= interval) {
      const result = fetchPublished(this.#issuer, attempts).then(async (published) => {
        const keys = await filterUsable(published);
        const keySet = { findKey: createLocalJWKSet({ keys }), cache: new TokenCache() };
        // A set without usable keys also replaces the previous set, because the provider has removed those keys.
        this.#lastSuccess = { keySet, at: now };
        if (keys.length === 0) throw new Error(`${this.#issuer} publishes no key that can verify a signature.`);
        return keySet;
      });
      this.#lastFetch = { result, at: now };
    }
    return await this.#lastFetch.result;
  }
}

/** Fetches the `keys` member of the provider's key set (RFC 7517, 5). Throws the error of the last attempt. */
async function fetchPublished(issuer: string, attempts: number): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    // One connection for all requests. It is not kept for later, because the provider could close it in the meantime.
    const agent = new Agent({ keepAlive: true });
    const options = { agent, signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS) };
    try {
      return (await getJson(await discoverKeysUrl(issuer, options), options))['keys'];
    } catch (error) {
      if (attempt === attempts) throw error;
    } finally {
      agent.destroy();
    }
  }
}

/** Returns the keys that can verify a signature. Another key could cause an error 500 instead of a 401. */
async function filterUsable(published: unknown): Promise<JWK[]> {
  if (!Array.isArray(published) || published.length > MAX_KEYS) {
    throw new Error(`The identity provider does not publish a list of at most ${MAX_KEYS} keys.`);
  }
  const usable = await Promise.all(published.map(isUsable));
  return published.filter((_, index) => usable[index]);
}

/** True if a trial token fails only because of its signature. For an unusable key, jose throws another error. */
async function isUsable(key: JWK): Promise<boolean> {
  for (const token of TRIAL_TOKENS) {
    // In a function, because createLocalJWKSet itself throws for a key that is not an object.
    const error = await compactVerify(token, (header) => createLocalJWKSet({ keys: [key] })(header)).catch((e) => e);
    if (error instanceof errors.JWSSignatureVerificationFailed) return true;
  }
  return false;
}

/** Returns the `jwks_uri` from the metadata of OpenID Connect Discovery 1.0 (4), or else of RFC 8414 (3). */
async function discoverKeysUrl(issuer: string, options: RequestOptions): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const metadata = await getJson(`${origin}${path}/.well-known/openid-configuration`, options).catch((error) =>
    getJson(`${origin}/.well-known/oauth-authorization-server${path}`, options).catch(() => Promise.reject(error)),
  );
  const { issuer: actual, jwks_uri: keysUrl } = metadata;
  if (actual !== issuer) throw new Error(`The issuer was ${JSON.stringify(actual)}; it must be "${issuer}".`);
  if (typeof keysUrl !== 'string') throw new Error(`The metadata of ${issuer} has no "jwks_uri".`);
  return keysUrl;
}

/** Fetches a JSON object over HTTPS. Throws for another protocol, a status that is not 200, and text that is not JSON. */
async function getJson(url: string, options: RequestOptions): Promise<Record<string, unknown>> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(url, options, resolve)
    .on('error', reject)
    // After a 101 response, Node.js emits only `close`, and the signal has no effect.
    .on('close', () => reject(new Error(`${url} closed the connection without a response.`)));
  const response = await promise;
  if (response.statusCode !== 200) throw new Error(`${url} responded with status ${response.statusCode}, not 200.`);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`${url} responded with more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString()) ?? {};
}
