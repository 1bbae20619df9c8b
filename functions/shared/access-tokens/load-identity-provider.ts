import { environmentVariable } from '../environment-variable.ts';
import type { IdentityProvider } from './identity-provider.mjs';

/**
 * Returns the identity provider that the stack names, if any. `infra/functions.ts` leaves the import
 * out of the bundle under exactly this path, and puts the file beside it only if there is a provider.
 */
export async function loadIdentityProvider(): Promise<IdentityProvider | undefined> {
  const issuer = process.env['TOKEN_ISSUER'];
  if (issuer === undefined) return undefined;
  const { IdentityProvider } = await import('./identity-provider.mjs');
  const audiences = environmentVariable('TOKEN_AUDIENCE').split(',');
  return new IdentityProvider({ issuer, audiences, scope: process.env['TOKEN_SCOPE'] });
}
