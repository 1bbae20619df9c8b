import { loadJwtVerifier } from './access-tokens/load-identity-provider.ts';
import { TokensTable } from './access-tokens/tokens-table.ts';
import { DynamoDb } from './dynamodb/dynamodb.ts';
import { environmentVariable } from './environment-variable.ts';

/* Shared by all operations; created and warmed up once, at init. */

export const dynamoDb = new DynamoDb();

export const accessTokens = {
  table: new TokensTable(dynamoDb, environmentVariable('ACCESS_TOKENS_TABLE_NAME')),
  jwtVerifier: await loadJwtVerifier(),
};

await Promise.all([accessTokens.table.warmUp(), accessTokens.jwtVerifier?.warmUp()]);
