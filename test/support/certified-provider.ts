import { generateKeyPairSync } from 'node:crypto';
import Provider from 'oidc-provider';
import type { Issuer } from './issuer.ts';

const CLIENT = { client_id: 'a-partner', client_secret: 'a-secret-of-the-test-alone' };

export const AUDIENCE = 'https://plants.example.com';
export const SCOPE = 'plants/write';

/**
 * Makes the issuer respond as a certified OpenID Connect provider, which signs with RS256.
 * Returns a function that requests an access token: a JWT (RFC 9068) for this service (RFC 8707), with client
 * credentials (RFC 6749, 4.4).
 */
export function certifiedProvider(issuer: Issuer): () => Promise<string> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider = new Provider(issuer.url, {
    clients: [{ ...CLIENT, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig' }] },
    features: {
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          audience: AUDIENCE,
          scope: SCOPE,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  issuer.respondWith(provider.callback());
  return async () => {
    const { client_id: id, client_secret: secret } = CLIENT;
    const response = await fetch(`${issuer.url}/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource: AUDIENCE, scope: SCOPE }),
    });
    const { access_token } = (await response.json()) as { access_token?: string };
    if (access_token === undefined)
      throw new Error(`The provider responded with ${response.status} and no token; it must issue one.`);
    return access_token;
  };
}
