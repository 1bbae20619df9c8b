import { App } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { checks } from '../../checks/all-checks.ts';
import { HttpClient } from '../../cli/http-client.ts';
import { DEVELOPMENT_TOKEN } from '../../local/dynamodb.ts';
import { readTemplate } from '../../local/template.ts';
import { sharedTemplate } from '../../test/support/assembly.ts';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { startEngine } from '../../test/support/engine.ts';
import { startTestService } from '../../test/support/service.ts';
import { stackWith } from '../../test/support/stack.ts';

const ORIGIN = 'https://app.example.com';
const ORIGINS = [ORIGIN, 'http://localhost:5173'];

const stack = stackWith({ allowOrigins: ORIGINS.join(), 'aws:cdk:enable-asset-metadata': true });
const template = readTemplate(App.of(stack)?.synth().directory ?? '');
const { functions: bundled } = await sharedTemplate();
// The bundles do not depend on the origins.
const functions = template.functions.map((configuration) => {
  const { assetDirectory = '' } = bundled.find(({ name }) => name === configuration.name) ?? {};
  return { ...configuration, assetDirectory };
});
const engine = closedAtEnd(await startEngine(template));
const service = closedAtEnd(await startTestService({ ...template, functions }, engine));

const send = (origin: string, path: string, method: string, headers = {}) =>
  fetch(service.url + path, { method, headers: { ...headers, origin } });
const allowedOrigin = (response: Response) => response.headers.get('access-control-allow-origin');

test.each(ORIGINS)('a preflight from %s allows POST with a token and a Content-Type', async (origin) => {
  const preflight = await send(origin, '/plants', 'OPTIONS', { 'access-control-request-method': 'POST' });
  expect(preflight.status).toBe(200);
  expect(allowedOrigin(preflight)).toBe('*');
  expect(preflight.headers.get('access-control-allow-methods')?.split(',')).toContain('POST');
  expect(preflight.headers.get('access-control-allow-headers')).toBe('Authorization,Content-Type');
});

test.each([
  [ORIGIN, ORIGIN],
  ['https://evil.example', null],
])('a function’s response to a page of %s allows the origin %s', async (origin, allowed) => {
  const response = await send(origin, '/plants', 'POST', { authorization: `Bearer ${DEVELOPMENT_TOKEN}` });
  expect(await response.json()).toMatchObject({ error: 415 });
  expect(allowedOrigin(response)).toBe(allowed);
});

test('pages can read the gateway’s own errors and their headers', async () => {
  const response = await send(ORIGIN, '/none', 'GET');
  expect(await response.json()).toMatchObject({ error: 404 });
  expect(allowedOrigin(response)).toBe('*');
  expect(response.headers.get('x-amz-apigw-id')).toMatch(/./);
  const names = ['x-amz-apigw-id', 'Retry-After', 'WWW-Authenticate', 'x-amzn-Remapped-WWW-Authenticate'];
  expect(response.headers.get('access-control-expose-headers')?.split(',')).toEqual(expect.arrayContaining(names));
});

test('the API with origins passes the smoke test', async () => {
  const client = new HttpClient(service.url, DEVELOPMENT_TOKEN);
  for (const { title, run } of checks) await expect(run(client), title).resolves.toBeUndefined();
});
