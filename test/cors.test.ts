import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checks } from '../checks/checks.ts';
import { HttpClient } from '../cli/http-client.ts';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { synthesize } from '../local/synthesize.ts';
import { readTemplate } from '../local/template.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { type Service, startService } from './support/service.ts';

const ORIGINS = ['https://app.example.com', 'http://localhost:5173'];

let assembly: string;
let engine: Engine;
let service: Service;
beforeAll(async () => {
  assembly = mkdtempSync(join(tmpdir(), 'plant-store-cors-'));
  engine = await startEngine();
  const template = readTemplate(await synthesize(assembly, { allowOrigins: ORIGINS.join() }));
  service = await startService(template, engine);
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

test.each(ORIGINS)('a preflight from %s allows what a page needs to create a plant', async (origin) => {
  const answer = await send(origin, { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } });
  expect(answer.status).toBe(200);
  expect(allowed(answer)).toBe(origin);
  expect(answer.headers.get('vary')).toBe('Origin');
  expect(answer.headers.get('access-control-allow-methods')?.split(',')).toContain('POST');
  expect(answer.headers.get('access-control-allow-headers')).toBe('Authorization,Content-Type');
});

test('a preflight from elsewhere allows no page of there', async () => {
  expect(allowed(await send('https://evil.example', { method: 'OPTIONS' }))).not.toBe('https://evil.example');
});

test.each(ORIGINS)('a page of %s may read a success and each error', async (origin) => {
  expect(allowed(await create(origin))).toBe(origin);
  expect(allowed(await create(origin, {}, '{'))).toBe(origin);
  expect(allowed(await create(origin, { authorization: 'none' }))).toBe(origin);
});

test('a page of elsewhere may not read the function’s answers', async () => {
  expect(allowed(await create('https://evil.example'))).toBeNull();
  expect(allowed(await create('https://evil.example', {}, '{'))).toBeNull();
});

test('a page may read what the gateway answers by itself', async () => {
  const answer = await send(String(ORIGINS[0]), { path: '/none' });
  expect(await answer.json()).toMatchObject({ error: 404 });
  expect(allowed(answer)).toBe('*');
});

test('a page may read the request id and the headers of an error, whoever answers', async () => {
  const origin = String(ORIGINS[0]);
  const answers = [
    await create(origin),
    await create(origin, { authorization: 'Bearer none' }),
    await send(origin, { path: '/none' }),
    await send(origin, { path: `/${'x'.repeat(12_000)}` }),
  ];
  for (const { headers } of answers) {
    expect(headers.get('x-amz-apigw-id')).toMatch(/./);
    const exposed = headers.get('access-control-expose-headers')?.split(',') ?? [];
    for (const name of ['x-amz-apigw-id', 'Retry-After', 'WWW-Authenticate', 'x-amzn-Remapped-WWW-Authenticate']) {
      expect(exposed).toContain(name);
    }
  }
});

test.each(['text/plain', 'image/png'])('a preflight declared as %s is no preflight of a page', async (type) => {
  const answer = await send(String(ORIGINS[0]), { method: 'OPTIONS', headers: { 'content-type': type } });
  expect(await answer.json()).toMatchObject({ error: 404 });
});

test('all checks of the smoke test pass on an API that pages may call', async () => {
  const client = new HttpClient(service.url, DEVELOPMENT_TOKEN);
  for (const { title, run } of checks) await expect(run(client), title).resolves.toBeUndefined();
});
