import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
  type RemoteJWKSet,
} from 'jose';
import { PlantStoreError, truncate } from '../errors.ts';
import { PROVIDER_KEYS_TIMEOUT_MS } from '../time-limits.ts';
import { LONG_AGO, millisecondsSince, now } from './clocks.ts';

/** At this age, keys are fetched again. While the provider works, a removed key is used for at most 30 minutes. */
const REFRESH_AGE_MS = 1_800_000;
/** The age up to which keys are used if the provider fails. */
const MAX_AGE_MS = 3_600_000;
/** From this age on, keys are fetched again for an unknown key id. */
const COOL_DOWN_MS = 30_000;
/** After a failure, nothing is fetched for 5 to 10 s: for this time, and at random up to as much again. */
const MIN_PAUSE_MS = 5000;
/**
 * Maximum length of a document in characters. For each token, jose compares each entry of a key's `key_ops` with each
 * other one: a key of 549,000 characters would cost seconds of CPU for any client's JWT.
 */
const MAX_CHARACTERS = 50_000;

/** The published keys of an identity provider (OpenID Connect Discovery 1.0, 4). Concurrent requests share a fetch. */
export class ProviderKeys {
  readonly #keySet: RemoteJWKSet;
  #fetchedAt = LONG_AGO;
  #failedAt = LONG_AGO;
  #pauseMs = 0;
  #failure: unknown;

  /** `issuer` is the provider's URL, as in `iss`. `timeoutMs` limits a fetch of metadata and keys together. */
  constructor(issuer: string, timeoutMs = PROVIDER_KEYS_TIMEOUT_MS) {
    this.#keySet = createRemoteJWKSet(new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`), {
      timeoutDuration: timeoutMs,
      // `find` decides about the age, because jose's own clock can go back.
      cacheMaxAge: Infinity,
      cooldownDuration: Infinity,
      // A connection that is kept can die while Lambda freezes the function, and the next fetch would fail.
      headers: { connection: 'close' },
      [customFetch]: async (url, options) => Response.json(await this.#fetchKeys(issuer, url, options)),
    });
  }

  /** Fetches the keys. Never throws. */
  async fetch(): Promise<void> {
    await this.#keySet.reload().catch(() => {});
  }

  /** Finds the key for the header of a JWT. Throws 503 if it has no such key because the provider fails. */
  readonly find = async (...jwt: Parameters<RemoteJWKSet>) => {
    if (this.#isPausing()) {
      let error = this.#failure;
      // Each request with a JWT logs this failure until the next attempt. With stacks, its line would have 3 KB. The
      // depth is limited because a chain of causes can be circular.
      for (let depth = 0; depth < 5 && error instanceof Error; depth += 1, error = error.cause) delete error.stack;
    }
    // If this fails, the old keys are used.
    if (millisecondsSince(this.#fetchedAt) >= REFRESH_AGE_MS) await this.fetch();
    if (millisecondsSince(this.#fetchedAt) >= MAX_AGE_MS) throw this.#failure;
    try {
      return await this.#keySet(...jwt);
    } catch (thrown) {
      const isUnknown = thrown instanceof errors.JWKSNoMatchingKey;
      if (!isUnknown || millisecondsSince(this.#fetchedAt) < COOL_DOWN_MS) throw thrown;
      await this.#keySet.reload();
      return this.#keySet(...jwt);
    }
  };

  #isPausing(): boolean {
    return millisecondsSince(this.#failedAt) < this.#pauseMs;
  }

  async #fetchKeys(issuer: string, metadataUrl: string, options: RequestInit): Promise<object> {
    if (this.#isPausing()) throw this.#failure;
    try {
      const { issuer: actual, jwks_uri: keysUrl } = await fetchJson(metadataUrl, options);
      if (actual !== issuer) throw new Error(`The issuer was ${quote(actual)}; it must be "${issuer}".`);
      const { keys } = await fetchJson(keysUrl, options);
      // Throws if it is not a key set.
      createLocalJWKSet({ keys } as JSONWebKeySet);
      this.#fetchedAt = now();
      return { keys };
    } catch (thrown) {
      // The pause is random, because otherwise all instances of the function would fetch again at the same time.
      this.#pauseMs = MIN_PAUSE_MS * (1 + Math.random());
      this.#failedAt = now();
      // Some of these failures are JOSEErrors, as for an invalid token, so JwtVerifier would respond with error 401.
      const message = 'The identity provider failed or did not respond. Try again.';
      this.#failure = new PlantStoreError(503, message, { cause: thrown });
      throw this.#failure;
    }
  }
}

/** Fetches JSON over HTTPS. jose's options limit the time. With them, `fetch` does not follow redirects. */
async function fetchJson(url: unknown, options: RequestInit): Promise<Record<string, unknown>> {
  if (typeof url !== 'string' || !/^https:\/\/\S{1,992}$/.test(url))
    throw new Error(`The URL was ${quote(url)}; it must be an https URL of at most 1,000 characters.`);
  const { status, body } = await fetch(url, options);
  if (status !== 200 || !body) throw new Error(`${quote(url)} responded with status ${status}, not 200.`);
  let text = '';
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.length > MAX_CHARACTERS) throw new Error(`${quote(url)} sent more than ${MAX_CHARACTERS} characters.`);
  }
  return JSON.parse(text);
}

/** Quotes at most 100 characters, because a provider's text can be long, and the log contains it. */
function quote(value: unknown): string {
  return truncate(`${JSON.stringify(value)}`, 100);
}
