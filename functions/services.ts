import { DynamoDb } from './dynamodb/client.ts';
import { environmentVariable, optionalVariable } from './environment.ts';
import { OpaqueTokenVerifier } from './tokens/opaque-token-verifier.ts';

export const dynamoDb = new DynamoDb();

export const tokenVerifiers = {
  opaque: new OpaqueTokenVerifier(dynamoDb, environmentVariable('ACCESS_TOKENS_TABLE_NAME')),
  // Without a provider, infra/function.ts tells esbuild that this expression is undefined. esbuild then omits the code
  // for JWTs.
  jwt: process.env['TOKEN_ISSUER']
    ? new (await import('./tokens/jwt-verifier.ts')).JwtVerifier({
        issuer: environmentVariable('TOKEN_ISSUER'),
        audiences: environmentVariable('TOKEN_AUDIENCE').split(','),
        scope: optionalVariable('TOKEN_SCOPE'),
      })
    : undefined,
};
