import middy from '@middy/core';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith, eventWith } from '../../test/support/event.ts';
import { newKey, signed, startIssuer } from '../../test/support/issuer.ts';
import { bearerAuth } from './middleware/bearer-auth.ts';

closedAtEnd(await startEngine());
const issuer = closedAtEnd(await startIssuer());
const key = newKey();
issuer.publish(key);
afterEach(() => {
  vi.unstubAllEnvs();
});

/** Starts an operation with these environment variables. Returns a function that sends it a JWT with claims. */
async function startWith(variables: Record<string, string>) {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  vi.resetModules();
  issuer.requests.length = 0;
  const { accessTokens } = await import('./resources.ts');
  const handler = middy<APIGatewayProxyEvent, string>()
    .use(httpHeaderNormalizer())
    .use(bearerAuth(accessTokens))
    .handler(() => 'passed');
  return (claims: object) => {
    const inAMinute = Math.floor(Date.now() / 1000) + 60;
    const token = signed(key, { iss: issuer.url, sub: 'a-partner', exp: inAMinute, ...claims });
    return handler(eventWith({ headers: { Authorization: `Bearer ${token}` } }), contextWith());
  };
}

test('rejects every JWT without an identity provider', async () => {
  const send = await startWith({});
  await expect(send({ aud: 'plants' })).rejects.toMatchObject({ error: 401 });
  expect(issuer.requests).toEqual([]);
});

test('accepts a JWT of the identity provider for each configured audience', async () => {
  const send = await startWith({ TOKEN_ISSUER: issuer.url, TOKEN_AUDIENCE: 'plants,gardens' });
  // The keys were fetched at init.
  expect(issuer.requests).toHaveLength(2);
  for (const aud of ['plants', 'gardens']) expect(await send({ aud })).toBe('passed');
  await expect(send({ aud: 'houses' })).rejects.toMatchObject({ error: 401 });
});

test('rejects a JWT without the configured scope', async () => {
  const send = await startWith({ TOKEN_ISSUER: issuer.url, TOKEN_AUDIENCE: 'plants', TOKEN_SCOPE: 'write' });
  expect(await send({ aud: 'plants', scope: 'write' })).toBe('passed');
  await expect(send({ aud: 'plants', scope: 'read' })).rejects.toMatchObject({ error: 401 });
});
