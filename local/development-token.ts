import { hash } from 'node:crypto';

/** The token of the local run and of the sample events. No real table ever holds its digest. */
export const DEVELOPMENT_TOKEN = 'plantstore_LocalDevelopmentTokenValidNowhereElse000000';
export const DEVELOPMENT_TOKEN_NAME = 'development';

export function developmentTokenDigest(): string {
  return hash('sha256', DEVELOPMENT_TOKEN);
}
