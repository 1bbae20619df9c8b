import { TokensTable } from './access-tokens/tokens-table.ts';
import { DynamoDb } from './dynamodb/dynamodb.ts';
import { environmentVariable } from './environment-variable.ts';

/* What each function creates once, before its first request. */

export const dynamoDb = new DynamoDb();

export const accessTokens = {
  table: new TokensTable(dynamoDb, environmentVariable('ACCESS_TOKENS_TABLE_NAME')),
  // Without a provider, infra/functions.ts sets the variable to undefined in the bundle, and esbuild omits this code.
  jwtVerifier: process.env['TOKEN_ISSUER']
    ? new (await import('./access-tokens/jwt-verifier.ts')).JwtVerifier({
        issuer: environmentVariable('TOKEN_ISSUER'),
        audiences: environmentVariable('TOKEN_AUDIENCE').split(','),
        scope: process.env['TOKEN_SCOPE'],
      })
    : undefined,
};

await Promise.all([accessTokens.table.warmUp(), accessTokens.jwtVerifier?.warmUp()]);
