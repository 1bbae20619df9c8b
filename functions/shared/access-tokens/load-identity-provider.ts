import { environmentVariable } from '../environment-variable.ts';
import type { JwtVerifier } from './identity-provider.mjs';

/**
 * Returns a verifier for the identity provider in the settings, if any. `infra/functions.ts` excludes exactly this import
 * path from the bundle, and adds the file to the bundle's folder only if there is a provider.
 */
export async function loadJwtVerifier(): Promise<JwtVerifier | undefined> {
  const issuer = process.env['TOKEN_ISSUER'];
  if (issuer === undefined) return undefined;
  const { JwtVerifier } = await import('./identity-provider.mjs');
  const audiences = environmentVariable('TOKEN_AUDIENCE').split(',');
  return new JwtVerifier({ issuer, audiences, scope: process.env['TOKEN_SCOPE'] });
}
