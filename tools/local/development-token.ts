/** The token of the local run and of the sample events. It is public, so it must never be in a real table. */
export const DEVELOPMENT_TOKEN = 'plantstore_LocalDevelopmentTokenValidNowhereElse000000';
