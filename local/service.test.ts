import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { inContract } from '../test/support/contract.ts';
import { copyProject, type ProjectCopy } from '../test/support/project-copy.ts';
import { DEVELOPMENT_TOKEN } from './development-token.ts';
import type { LocalService } from './service.ts';

/* Runs the service of a copy of the project, which a test may edit, in this process. The commands: start.test.ts. */

/** Ends a hang, also on a slow machine. */
const POLL = { timeout: 60_000, interval: 20 };

let project: ProjectCopy;
let startService: typeof import('./service.ts').startService;
let service: LocalService;
/** The terminal's content. */
let output = '';
const openBefore = openResources();

beforeAll(async () => {
  for (const method of ['log', 'error'] as const) {
    vi.spyOn(console, method).mockImplementation((text) => {
      output += `${text}\n`;
    });
  }
  project = copyProject();
  ({ startService } = await import(join(project.directory, 'local/service.ts')));
  service = await startService(0, { watching: true });
});
afterAll(() => {
  vi.restoreAllMocks();
  project.remove();
});

function openResources(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((kind) => /Process|Server|Worker|MessagePort|FSEvent/.test(kind))
    .toSorted();
}

const plantsUrl = () => /ready at (\S+)/.exec(service.instructions)?.[1] ?? '';
const dynamoDbUrl = () => /DynamoDB listens at (\S+)\)/.exec(service.instructions)?.[1] ?? '';
const generatedFile = () => join(project.directory, 'functions/create-plant/contract.generated.d.ts');

async function create(body: string) {
  const response = await fetch(plantsUrl(), {
    method: 'POST',
    headers: { authorization: `Bearer ${DEVELOPMENT_TOKEN}`, 'content-type': 'application/json' },
    body,
  });
  return inContract({
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  });
}

/** Sends the request of a printed curl command, without curl. */
async function paste(pattern: RegExp): Promise<{ status: number; body: string }> {
  const line = service.instructions.split('\n').find((each) => pattern.test(each)) ?? '';
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  const valuesOf = (flag: string) => words.filter((_, index) => words[index - 1] === flag);
  const signature = words.includes('--aws-sigv4')
    ? {
        authorization: 'AWS4-HMAC-SHA256 Credential=local/x/x/x/aws4_request,SignedHeaders=host,Signature=x',
        date: 'x',
      }
    : {};
  const response = await fetch(words.find((word) => word.startsWith('http')) ?? '', {
    method: 'POST',
    headers: { ...signature, ...Object.fromEntries(valuesOf('-H').map((header) => header.split(': '))) },
    body: valuesOf('-d')[0] ?? '',
  });
  return { status: response.status, body: await response.text() };
}

/** Changes a file of the project. Returns a function that restores it. */
function edit(path: string, change: (source: string) => string): () => void {
  const file = join(project.directory, path);
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, change(source));
  return () => writeFileSync(file, source);
}

test('prints a request that creates a plant, one that lists it, and a line for each response', async () => {
  expect(await paste(/curl -i/)).toEqual({ status: 200, body: '{"name":"Monstera deliciosa","tag":"climber"}' });
  expect(output).toMatch(/^POST {2}\/plants {2}200 {2}- {2}\d+\.\d ms$/m);
  const { body } = await paste(/aws-sigv4/);
  expect(JSON.parse(body).Items).toContainEqual({
    id: { N: '1' },
    name: { S: 'Monstera deliciosa' },
    tag: { S: 'climber' },
  });
});

test('prints the address of the reference page, which is served beside the gateway', async () => {
  const [first = ''] = service.instructions.split('\n');
  const pageUrl = /http:\S+/.exec(first)?.[0] ?? '';
  expect(await fetch(pageUrl)).toMatchObject({ status: 200, url: `${pageUrl}/` });
  const pageContract = await (await fetch(`${pageUrl}/openapi.yaml`)).text();
  expect(pageContract).toContain(`url: ${new URL(pageUrl).origin}\n`);
  expect(pageContract).toContain(DEVELOPMENT_TOKEN);
  expect(await (await fetch(`${pageUrl}/none`)).json()).toMatchObject({ error: 404 });
});

const connected = (host: string) => once(connect(Number(new URL(plantsUrl()).port), host), 'connect');

test('listens on 127.0.0.1 only', async () => {
  await expect(connected('::1')).rejects.toThrow('::1');
});

test('fails with a sentence if the port is in use, and generates nothing unless it watches', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', dynamoDbUrl());
  onTestFinished(() => void vi.unstubAllEnvs());
  appendFileSync(generatedFile(), '// mine');
  const { port } = new URL(plantsUrl());
  await expect(startService(Number(port))).rejects.toThrow(
    new Error(`Port ${port} is in use; set PORT to a free one, or to 0 for any.`),
  );
  expect(readFileSync(generatedFile(), 'utf8')).toContain('// mine');
});

test('prints why an edit fails, and continues to serve the previous state', async () => {
  const undoFinding = edit('infra/functions.ts', (source) => source.replace('AwsSolutions-IAM5', 'none'));
  await expect.poll(() => output, POLL).toMatch(/The stack could not be synthesized.*AwsSolutions-IAM5/s);
  expect(await create('{"id":80,"name":"x"}')).toEqual({ name: 'x' });
  undoFinding();

  const undoContract = edit('openapi.yaml', () => 'openapi: [');
  await expect.poll(() => output, POLL).toContain('Nothing can be generated from openapi.yaml: ');
  expect(await create('{"id":80,"name":"x"}')).toEqual({ name: 'x' });
  const page = await fetch(new URL('/docs/', plantsUrl()));
  expect(page.status).toBe(500);
  expect(await page.text()).toContain('The page cannot be made from openapi.yaml: ');
  undoContract();
});

test('serves an edit of the contract and of a function, and prints its warnings and errors', async () => {
  edit('openapi.yaml', (source) => source.replace(/name:\n\s+type: string/, '$&\n          maxLength: 3'));
  edit('functions/create-plant/index.ts', (source) =>
    ['info', 'warn', 'error'].reduce((text, level) => `${text}\nconsole.${level}('at ${level}');`, source),
  );
  await expect.poll(() => create('{"id":81,"name":"too long"}'), POLL).toMatchObject({ error: 400 });
  await expect.poll(() => output, POLL).toMatch(/"level": "WARN",\s+"message": "at warn"/);
  expect(output).toMatch(/"level": "ERROR",\s+"message": "at error"/);
  expect(output).not.toContain('at info');
});

test('does not rebuild for a generated file, which a rebuild writes', async () => {
  edit('functions/create-plant/index.ts', (source) => `${source}\nconsole.warn('rebuilt');`);
  await expect.poll(() => output, POLL).toContain('"rebuilt"');
  appendFileSync(generatedFile(), '// mine');
  await sleep(500);
  expect(readFileSync(generatedFile(), 'utf8')).toContain('// mine');
});

test('leaves nothing open after it is closed during a rebuild', async () => {
  rmSync(generatedFile());
  edit('functions/create-plant/index.ts', (source) => `${source}\n`);
  await expect.poll(() => existsSync(generatedFile()), POLL).toBe(true);
  await service.close();
  await expect(connected('127.0.0.1')).rejects.toThrow('ECONNREFUSED');
  await expect.poll(openResources, POLL).toEqual(openBefore);
});
