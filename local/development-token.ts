/** The token of the local run and of the sample events. No real table ever holds its digest. */
export const DEVELOPMENT_TOKEN = 'plantstore_LocalDevelopmentTokenValidNowhereElse000000';
