import { get } from 'node:https';
import { json } from 'node:stream/consumers';
import { createLocalJWKSet, createRemoteJWKSet, customFetch, type JSONWebKeySet } from 'jose';
import { PlantStoreError } from '../errors.ts';
import { PROVIDER_KEYS_MS } from '../time-limits.ts';

/** The age up to which keys are used. A key that the provider removes can be valid that long. */
const MAX_AGE_MS = 3_600_000;

/** The members of a provider's documents that are read. Their types are not checked yet. */
interface Published {
  issuer?: unknown;
  jwks_uri?: unknown;
  keys?: unknown;
}

/**
 * Returns the published keys of an identity provider. jose fetches them when they are first needed, when they are an
 * hour old, and for an unknown key id at most every 30 s. If that fails, the next request tries again.
 *
 * @param issuer the provider's URL, as in the claim `iss`
 * @throws 503 in the lookup of a key, if the provider fails or does not respond
 */
export function providerKeys(issuer: string) {
  // The URL of the keys is known only after the metadata is fetched, so `customFetch` does not use the one it gets.
  return createRemoteJWKSet(new URL(issuer), {
    timeoutDuration: PROVIDER_KEYS_MS,
    cacheMaxAge: MAX_AGE_MS,
    [customFetch]: async (_, { signal }) => {
      try {
        const keySet = await fetchJson(await discoverKeysUrl(issuer, signal), signal);
        // Throws if it is not a key set.
        createLocalJWKSet(keySet as JSONWebKeySet);
        // jose reads only these members. A real `Response`, or `fetch`, would load undici, which slows down a cold start.
        return { status: 200, json: async () => keySet } satisfies Pick<Response, 'status' | 'json'> as Response;
      } catch (cause) {
        // jose itself would throw a JOSEError for some of these failures, as it does for an invalid token.
        const message = 'The identity provider failed or did not respond. Try again.';
        throw new PlantStoreError(503, message, { cause });
      }
    },
  });
}

/** Returns the `jwks_uri` from the metadata of OpenID Connect Discovery 1.0 (4), or else of RFC 8414 (3). */
async function discoverKeysUrl(issuer: string, signal: AbortSignal): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const metadata = await fetchJson(`${origin}${path}/.well-known/openid-configuration`, signal).catch((first) =>
    fetchJson(`${origin}/.well-known/oauth-authorization-server${path}`, signal).catch(() => Promise.reject(first)),
  );
  const { issuer: actual, jwks_uri: keysUrl } = metadata;
  if (actual !== issuer) throw new Error(`The issuer was ${JSON.stringify(actual)}; it must be "${issuer}".`);
  if (typeof keysUrl !== 'string') throw new Error(`The metadata of ${issuer} has no "jwks_uri".`);
  return keysUrl;
}

/** Fetches JSON over HTTPS. Rejects another protocol, a redirect or other status, and text that is not JSON. */
function fetchJson(url: string, signal: AbortSignal): Promise<Published> {
  return new Promise((resolve, reject) => {
    // The reason is the timeout; node:https would say only "aborted".
    const fail = (thrown: unknown) => reject(signal.reason ?? thrown);
    let hasResponse = false;
    get(url, { signal }, (response) => {
      hasResponse = true;
      if (response.statusCode === 200) json(response).then((document) => resolve(document ?? {}), fail);
      else fail(new Error(`${url} responded with status ${response.statusCode}, not 200.`));
    })
      .on('error', fail)
      // A 101 response, for example, closes a request without `response` and `error`.
      .on('close', () => hasResponse || fail(new Error(`${url} closed the connection.`)));
  });
}
