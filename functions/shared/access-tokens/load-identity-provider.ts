import { environmentVariable } from '../environment-variable.ts';
import type { IdentityProvider } from './identity-provider.mjs';

/** Returns the identity provider that the stack names. Without one, its file is not beside the bundle (hence .mjs). */
export async function loadIdentityProvider(): Promise<IdentityProvider | undefined> {
  const issuer = process.env['TOKEN_ISSUER'];
  if (issuer === undefined) return undefined;
  const { IdentityProvider } = await import('./identity-provider.mjs');
  const audiences = environmentVariable('TOKEN_AUDIENCE').split(',');
  return new IdentityProvider({ issuer, audiences, scope: process.env['TOKEN_SCOPE'] });
}
