import type { IncomingMessage } from 'node:http';
import { Agent, get, type RequestOptions } from 'node:https';
import { compactVerify, createLocalJWKSet, errors, type JWK } from 'jose';
import { TokenCache } from './token-cache.ts';

/** After this, the next request fetches the keys again. */
const REFRESH_AFTER_MS = 600_000;
/** Keys are trusted for this long if the provider is down, so a key that it has withdrawn may be too. */
const MAX_AGE_MS = 3_600_000;
/** Keys are not fetched more often, whatever clients send. */
const MIN_INTERVAL_MS = 5000;
/** While a provider is down and its keys are still trusted, one request a minute waits for a fetch that fails. */
const MIN_REFRESH_INTERVAL_MS = 60_000;
const MAX_ATTEMPTS = 2;
const ATTEMPT_MS = 1500;
/** Providers publish a few keys, of a few KB each if they have certificates. */
const MAX_BYTES = 256 * 1024;
/** Each key is tried after the fetch, which takes CPU time. */
const MAX_KEYS = 100;

const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
const ELLIPTIC_CURVES = ['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'];
/** RFC 8725, 3.1: asymmetric ones only. With a symmetric key, whoever can verify a token can issue one too. */
export const ALGORITHMS = [...RSA, ...ELLIPTIC_CURVES];

/** One token for each algorithm. Their signatures are wrong for every key. */
const TRIAL_TOKENS = ALGORITHMS.map((alg) => `${Buffer.from(JSON.stringify({ alg })).toString('base64url')}.e30.e30`);

/** Keys that were fetched together, and the tokens that they verified: withdrawn keys take their tokens with them. */
export interface KeySet {
  keys: ReturnType<typeof createLocalJWKSet>;
  cache: TokenCache;
}

/** The keys of an identity provider. `current` and `latest` throw if they need a fetch that fails. */
export class ProviderKeys {
  readonly #issuer: string;
  /** Both times in milliseconds since 1970. */
  #fetched: { keySet: KeySet; at: number } | undefined;
  #attempt: { result: Promise<KeySet>; at: number } | undefined;

  constructor(issuer: string) {
    this.#issuer = issuer;
  }

  /** Fetches the keys at init, in one attempt. Never throws: the next request that needs the keys tries again. */
  async warmUp(): Promise<void> {
    await this.#fetch(MIN_INTERVAL_MS, 1).catch(() => {
      this.#attempt = undefined;
    });
  }

  /** The trusted keys. They are fetched again after ten minutes; while that fails, they are trusted for an hour. */
  async current(): Promise<KeySet> {
    const age = Date.now() - (this.#fetched?.at ?? 0);
    if (!this.#fetched || age >= MAX_AGE_MS) return await this.latest();
    if (age >= REFRESH_AFTER_MS) await this.#fetch(MIN_REFRESH_INTERVAL_MS).catch(() => {});
    return this.#fetched.keySet;
  }

  /** The keys that the provider has now, or had at most five seconds ago. */
  async latest(): Promise<KeySet> {
    return await this.#fetch(MIN_INTERVAL_MS);
  }

  /** Fetches the keys, or returns the result of the last fetch if that is newer than the interval. */
  async #fetch(interval: number, attempts = MAX_ATTEMPTS): Promise<KeySet> {
    const now = Date.now();
    if (!this.#attempt || now - this.#attempt.at >= interval) {
      const result = publishedKeys(this.#issuer, attempts).then(async (published) => {
        const keys = await usableKeys(published);
        const keySet = { keys: createLocalJWKSet({ keys }), cache: new TokenCache() };
        // A set without usable keys replaces the previous one too, because the provider has withdrawn those keys.
        this.#fetched = { keySet, at: now };
        if (keys.length === 0) throw new Error(`${this.#issuer} publishes no key that can verify a signature.`);
        return keySet;
      });
      this.#attempt = { result, at: now };
    }
    return await this.#attempt.result;
  }
}

/** Returns what the provider publishes as its keys. Throws the error of the last attempt. */
async function publishedKeys(issuer: string, attempts: number): Promise<unknown> {
  // One connection for both requests, which is not kept: the provider would close it some time later.
  const agent = new Agent({ keepAlive: true });
  const options = { agent, signal: AbortSignal.timeout(ATTEMPT_MS) };
  try {
    return (await getJson(await keysAddress(issuer, options), options))['keys'];
  } catch (error) {
    if (attempts === 1) throw error;
  } finally {
    agent.destroy();
  }
  return await publishedKeys(issuer, attempts - 1);
}

/** Returns the keys that can verify a signature. With any other, each token that names it would be a 503. */
async function usableKeys(published: unknown): Promise<JWK[]> {
  if (!Array.isArray(published) || published.length > MAX_KEYS) {
    throw new Error(`The identity provider does not publish a list of at most ${MAX_KEYS} keys.`);
  }
  const usable = await Promise.all(published.map(isUsable));
  return published.filter((_, index) => usable[index]);
}

/** Tries to verify with a key. jose throws another error if it is, for example, private or too short. */
async function isUsable(key: JWK): Promise<boolean> {
  for (const token of TRIAL_TOKENS) {
    const error = await compactVerify(token, (header) => createLocalJWKSet({ keys: [key] })(header)).catch((e) => e);
    if (error instanceof errors.JWSSignatureVerificationFailed) return true;
  }
  return false;
}

/** Returns the `jwks_uri` of OpenID Connect Discovery 1.0, 4, or if there is none, of RFC 8414, 3. */
async function keysAddress(issuer: string, options: RequestOptions): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const { issuer: named, jwks_uri: address } = await getJson(
    `${origin}${path}/.well-known/openid-configuration`,
    options,
  ).catch(() => getJson(`${origin}/.well-known/oauth-authorization-server${path}`, options));
  if (named !== issuer) throw new Error(`The issuer of ${issuer} calls itself ${JSON.stringify(named)}.`);
  if (typeof address !== 'string') throw new Error(`The issuer ${issuer} has no "jwks_uri".`);
  return address;
}

/** Gets a JSON object over HTTPS. Throws for any other address, status or content, and for a redirect. */
async function getJson(address: string, options: RequestOptions): Promise<Record<string, unknown>> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(address, options, resolve)
    .on('error', reject)
    // A 101 response closes the request without another event, and a closed request ignores the signal.
    .on('close', () => reject(new Error(`${address} closed the connection without a response.`)));
  const response = await promise;
  if (response.statusCode !== 200) throw new Error(`${address} answers status ${response.statusCode}.`);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`${address} answers more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}
