import { TokensTable } from './access-tokens/tokens-table.ts';
import { DynamoDb } from './dynamodb/client.ts';
import { environmentVariable, optionalVariable } from './environment.ts';

/* What each function creates once, before its first request. */

export const dynamoDb = new DynamoDb();

export const accessTokens = {
  table: new TokensTable(dynamoDb, environmentVariable('ACCESS_TOKENS_TABLE_NAME')),
  // Without a provider, infra/functions.ts replaces this expression in the bundle by undefined, and esbuild omits the code.
  jwtVerifier: process.env['TOKEN_ISSUER']
    ? new (await import('./access-tokens/jwt-verifier.ts')).JwtVerifier({
        issuer: environmentVariable('TOKEN_ISSUER'),
        audiences: environmentVariable('TOKEN_AUDIENCE').split(','),
        scope: optionalVariable('TOKEN_SCOPE'),
      })
    : undefined,
};

await Promise.all([accessTokens.table.warmUp(), accessTokens.jwtVerifier?.warmUp()]);
