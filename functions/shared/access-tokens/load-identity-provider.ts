import { environmentVariable } from '../environment-variable.ts';
import type { IdentityProvider } from './identity-provider.mjs';

/**
 * Returns the identity provider of the stack's settings, if any. `infra/functions.ts` excludes exactly this import path
 * from the bundle, and adds the file to the bundle's folder only if there is a provider.
 */
export async function loadIdentityProvider(): Promise<IdentityProvider | undefined> {
  const issuer = process.env['TOKEN_ISSUER'];
  if (issuer === undefined) return undefined;
  const { IdentityProvider } = await import('./identity-provider.mjs');
  const audiences = environmentVariable('TOKEN_AUDIENCE').split(',');
  return new IdentityProvider({ issuer, audiences, scope: process.env['TOKEN_SCOPE'] });
}
