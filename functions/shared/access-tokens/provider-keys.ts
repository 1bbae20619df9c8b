import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { createLocalJWKSet, createRemoteJWKSet, customFetch, type JSONWebKeySet } from 'jose';
import { PlantStoreError } from '../errors.ts';
import { PROVIDER_KEYS_MS } from '../time-limits.ts';

/** Keys of this age are fetched again, so that a key that the provider removed is no longer used. */
const REFRESH_AGE_MS = 1_800_000;
/** Keys of this age are no longer used, even if the provider fails. */
const MAX_AGE_MS = 3_600_000;
/** After a failure, the provider gets no request for this time, or up to twice as long. */
const MIN_PAUSE_MS = 5000;
/** Maximum length of a document in characters. The keys of a longer one could use up the function's memory. */
const MAX_LENGTH = 1_000_000;

/**
 * Returns a function that finds the key for the header of a JWT among the published keys of an identity provider
 * (OpenID Connect Discovery 1.0, 4). It throws 503 if it has no such key because the provider fails.
 *
 * Keys are fetched when they are first needed, when they are 30 minutes old, and for an unknown key id if they are at
 * least 30 s old (jose's cool-down). Concurrent requests share a fetch.
 *
 * @param issuer the provider's URL, as in the claim `iss`
 */
export function providerKeys(issuer: string) {
  let refreshAt = 0;
  let retryAt = 0;
  let failure: unknown;
  const keySet = createRemoteJWKSet(new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`), {
    timeoutDuration: PROVIDER_KEYS_MS,
    cacheMaxAge: MAX_AGE_MS,
    [customFetch]: async (metadataUrl, { signal }) => {
      if (Date.now() < retryAt) throw failure;
      try {
        const { issuer: actual, jwks_uri: keysUrl } = await fetchJson(metadataUrl, signal);
        if (actual !== issuer) throw new Error(`The issuer was ${quote(actual)}; it must be "${issuer}".`);
        const { keys } = await fetchJson(keysUrl, signal);
        // Throws if it is not a key set.
        createLocalJWKSet({ keys } as JSONWebKeySet);
        refreshAt = Date.now() + REFRESH_AGE_MS;
        // jose reads only these members.
        return { status: 200, json: async () => ({ keys }) } satisfies Pick<Response, 'status' | 'json'> as Response;
      } catch (thrown) {
        // After the time limit, the error of node:https says only "aborted".
        const cause = signal.reason ?? thrown;
        // Without the random part, all instances of the function would send their next request at the same time.
        retryAt = Date.now() + MIN_PAUSE_MS * (1 + Math.random());
        // jose itself would throw a JOSEError for some of these failures, as it does for an invalid token.
        failure = new PlantStoreError(503, 'The identity provider failed or did not respond. Try again.', { cause });
        throw failure;
      }
    },
  });
  return async (...jwt: Parameters<typeof keySet>) => {
    // If this fails, `keySet` uses the old keys, or throws the same error if it has none.
    if (Date.now() >= refreshAt) await keySet.reload().catch(() => {});
    return keySet(...jwt);
  };
}

/** Fetches JSON over HTTPS without redirects. The global `fetch` would take 40 ms more of a cold start. */
async function fetchJson(url: unknown, signal: AbortSignal): Promise<Record<string, unknown>> {
  if (typeof url !== 'string' || !/^https:\/\/\S{1,1000}$/.test(url)) {
    throw new Error(`The URL was ${quote(url)}; it must be an https URL of at most 1,000 characters.`);
  }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    // Without an agent, no connection is kept, which could die while Lambda freezes the function.
    const request = get(url, { signal, agent: false }, resolve).on('error', reject);
    // A response with status 101 closes the request without an error.
    request.on('close', () => reject(new Error(`${quote(url)} closed the connection.`)));
  });
  if (response.statusCode !== 200) throw new Error(`${quote(url)} responded with status ${response.statusCode}.`);
  let text = '';
  for await (const part of response.setEncoding('utf8')) {
    text += part;
    if (text.length > MAX_LENGTH) throw new Error(`${quote(url)} sent more than ${MAX_LENGTH} characters.`);
  }
  return JSON.parse(text);
}

/** Quotes at most 100 characters, because a provider's text can be long, and the log contains it. */
function quote(value: unknown): string {
  return `${JSON.stringify(value)}`.slice(0, 100).toWellFormed();
}
