import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checks } from '../checks/checks.ts';
import { HttpClient } from '../cli/http-client.ts';
import { DEVELOPMENT_TOKEN } from '../local/dynamodb.ts';
import { synthesize } from '../local/synthesize.ts';
import { readTemplate } from '../local/template.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { startTestService, type TestService } from './support/service.ts';

const ORIGIN = 'https://app.example.com';
const ORIGINS = [ORIGIN, 'http://localhost:5173'];

let assembly: string;
let engine: Engine;
let service: TestService;
beforeAll(async () => {
  assembly = mkdtempSync(join(tmpdir(), 'plant-store-cors-'));
  engine = await startEngine();
  const template = readTemplate(await synthesize(assembly, { allowOrigins: ORIGINS.join() }));
  service = await startTestService(template, engine);
});
afterAll(async () => {
  await service.close();
  await engine.close();
  rmSync(assembly, { recursive: true });
});

function send(origin: string, { path = '/plants', ...init }: RequestInit & { path?: string }): Promise<Response> {
  const headers = { authorization: `Bearer ${DEVELOPMENT_TOKEN}`, 'content-type': 'application/json', ...init.headers };
  return fetch(service.url + path, { ...init, headers: { ...headers, origin } });
}
const create = (origin: string, headers = {}, body = '{"id":1,"name":"x"}') =>
  send(origin, { method: 'POST', body, headers });
const allowed = (response: Response) => response.headers.get('access-control-allow-origin');

test.each(ORIGINS)('a page of %s may create a plant, and read a success and each error', async (origin) => {
  const preflight = await send(origin, { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } });
  expect(preflight.status).toBe(200);
  expect(preflight.headers.get('vary')).toBe('Origin');
  expect(preflight.headers.get('access-control-allow-methods')?.split(',')).toContain('POST');
  expect(preflight.headers.get('access-control-allow-headers')).toBe('Authorization,Content-Type');
  const responses = [preflight, await create(origin), await create(origin, {}, '{')];
  responses.push(await create(origin, { authorization: 'none' }));
  expect(responses.map(allowed)).toEqual(Array(4).fill(origin));
});

test('a page of another origin may send nothing, and read nothing', async () => {
  const origin = 'https://evil.example';
  expect(allowed(await send(origin, { method: 'OPTIONS' }))).not.toBe(origin);
  expect(allowed(await create(origin))).toBeNull();
});

test('a page may read the gateway’s own error, its request id and its headers', async () => {
  const response = await send(ORIGIN, { path: '/none' });
  expect(await response.json()).toMatchObject({ error: 404 });
  expect(allowed(response)).toBe('*');
  expect(response.headers.get('x-amz-apigw-id')).toMatch(/./);
  const names = ['x-amz-apigw-id', 'Retry-After', 'WWW-Authenticate', 'x-amzn-Remapped-WWW-Authenticate'];
  expect(response.headers.get('access-control-expose-headers')?.split(',')).toEqual(expect.arrayContaining(names));
});

test.each(['text/plain', 'image/png'])('OPTIONS with the Content-Type %s is not a preflight', async (type) => {
  const response = await send(ORIGIN, { method: 'OPTIONS', headers: { 'content-type': type } });
  expect(await response.json()).toMatchObject({ error: 404 });
});

test('the API passes all checks of the smoke test', async () => {
  const client = new HttpClient(service.url, DEVELOPMENT_TOKEN);
  for (const { title, run } of checks) await expect(run(client), title).resolves.toBeUndefined();
});
