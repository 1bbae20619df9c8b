import middy from '@middy/core';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type Engine, startEngine } from '../../test/support/engine.ts';
import { contextWith, eventWith } from '../../test/support/event.ts';
import { type Issuer, newKey, signed, startIssuer } from '../../test/support/issuer.ts';
import { bearerAuth } from './middleware/bearer-auth.ts';
import { errorResponse } from './middleware/error-response.ts';

let engine: Engine;
let issuer: Issuer;
const key = newKey();
beforeAll(async () => {
  engine = await startEngine();
  issuer = await startIssuer();
  issuer.publish(key);
});
afterAll(async () => {
  await issuer.close();
  await engine.close();
});
beforeEach(() => {
  issuer.requests.length = 0;
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** An operation as it starts with such variables of the stack, which answers the number of an error, or nothing. */
async function startWith(variables: Record<string, string>) {
  const stack = { ACCESS_TOKENS_TABLE_NAME: engine.accessTokensTable, ...variables };
  for (const [name, value] of Object.entries(stack)) vi.stubEnv(name, value);
  vi.resetModules();
  const { accessTokens } = await import('./resources.ts');
  const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .use(errorResponse())
    .use(httpHeaderNormalizer())
    .use(bearerAuth(accessTokens))
    .handler(() => ({ statusCode: 200, body: '{}' }));
  return async (claims: object): Promise<number | undefined> => {
    const inAMinute = Math.floor(Date.now() / 1000) + 60;
    const token = signed(key, { iss: issuer.url, sub: 'a-partner', exp: inAMinute, ...claims });
    const event = eventWith({ headers: { Authorization: `Bearer ${token}` } });
    const { body }: APIGatewayProxyResult = await handler(event, contextWith());
    return JSON.parse(body).error;
  };
}

test('without an identity provider every JWT is refused', async () => {
  expect(await (await startWith({}))({ aud: 'plants' })).toBe(401);
  expect(issuer.requests).toEqual([]);
});

test('a JWT of the identity provider that the stack names passes for each of its audiences', async () => {
  const answer = await startWith({ TOKEN_ISSUER: issuer.url, TOKEN_AUDIENCE: 'plants,gardens' });
  // The keys were fetched at init.
  expect(issuer.requests).toHaveLength(2);
  for (const aud of ['plants', 'gardens']) expect(await answer({ aud })).toBeUndefined();
  expect(await answer({ aud: 'houses' })).toBe(401);
});

test('a JWT must have the scope that the stack names', async () => {
  const answer = await startWith({ TOKEN_ISSUER: issuer.url, TOKEN_AUDIENCE: 'plants', TOKEN_SCOPE: 'write' });
  expect(await answer({ aud: 'plants', scope: 'write' })).toBeUndefined();
  expect(await answer({ aud: 'plants', scope: 'read' })).toBe(401);
});
