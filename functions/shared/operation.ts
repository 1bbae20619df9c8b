import middy from '@middy/core';
import httpCors from '@middy/http-cors';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { AccessTokensTable } from './access-tokens-table.ts';
import { bearerAuth } from './bearer-auth.ts';
import { DynamoDb } from './dynamodb.ts';
import { environmentVariable } from './environment-variable.ts';
import { errorResponse } from './error-response.ts';
import { EXPOSED_HEADERS } from './errors.ts';
import type { IdentityProvider } from './identity-provider.mjs';
import { requestLog } from './request-log.ts';
import { strayRejections } from './stray-rejections.ts';

export const dynamoDb = new DynamoDb();
const tokensTable = new AccessTokensTable(dynamoDb, environmentVariable('ACCESS_TOKENS_TABLE_NAME'));
const identityProvider = await configuredIdentityProvider();
/** What access tokens are held against. */
export const accessTokens = {
  /** Asks the table and the provider ahead of the first request. Never fails. */
  prime: () => Promise.all([tokensTable.prime(), identityProvider?.prime()]),
};
/** Without origins no page may call the API from another one. */
const allowOrigins = process.env['ALLOW_ORIGINS']?.split(',');

/**
 * The chain that every operation starts with: an API Gateway REST proxy event in, a proxy response out.
 * It logs the request, answers whatever is thrown as a 400 with an Error, and lets pass only a request
 * with a valid access token. `operationId` is the contract's.
 */
export function operation<TEvent>(operationId: string) {
  return middy<TEvent, APIGatewayProxyResult>()
    .use(requestLog(operationId))
    .use(allowOrigins ? httpCors({ origins: allowOrigins, exposeHeaders: EXPOSED_HEADERS }) : [])
    .use(errorResponse())
    .use(strayRejections(operationId))
    .use(httpHeaderNormalizer())
    .use(bearerAuth(tokensTable, identityProvider));
}

/** The identity provider that the stack names. Where there is none, its file is not in the bundle (hence its .mjs). */
async function configuredIdentityProvider(): Promise<IdentityProvider | undefined> {
  const issuer = process.env['TOKEN_ISSUER'];
  if (issuer === undefined) return undefined;
  const { IdentityProvider } = await import('./identity-provider.mjs');
  const audiences = environmentVariable('TOKEN_AUDIENCE').split(',');
  return new IdentityProvider({ issuer, audiences, scope: process.env['TOKEN_SCOPE'] });
}
