import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { LOCAL_CREDENTIALS } from '../local/dynamodb.ts';
import { LOCAL_REGION } from '../local/template.ts';
import { inContract } from './support/contract.ts';
import { copyProject, type LocalRun, type ProjectCopy } from './support/project-copy.ts';

let project: ProjectCopy;
let run: LocalRun;
beforeAll(async () => {
  project = copyProject();
  run = await project.start('npm start');
});
afterAll(() => project.remove());

/** Synthesis takes seconds. */
const POLL = { timeout: 25_000, interval: 100 };
const headers = { authorization: `Bearer ${DEVELOPMENT_TOKEN}`, 'content-type': 'application/json' };

async function create(body: string, url = run.url, token = DEVELOPMENT_TOKEN) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${token}` },
    body,
  });
  return inContract({
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  });
}

/** Sends what a printed curl line would send; not every machine has curl. */
async function paste(line: string): Promise<{ status: number; body: string }> {
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
const printed = (pattern: RegExp) =>
  run
    .output()
    .split('\n')
    .find((line) => pattern.test(line)) ?? '';

test('the printed request works when pasted, and the printed list shows what is stored', async () => {
  expect(await paste(printed(/curl -i/))).toEqual({
    status: 200,
    body: '{"name":"Monstera deliciosa","tag":"climber"}',
  });
  const { body } = await paste(printed(/aws-sigv4/));
  expect(JSON.parse(body).Items).toContainEqual({
    id: { N: '1' },
    name: { S: 'Monstera deliciosa' },
    tag: { S: 'climber' },
  });
});

test('a plant is created, created again, and not replaced by a different one', async () => {
  const plant = '{"id":9223372036854775807,"name":"Welwitschia"}';
  expect(await create(plant)).toEqual({ name: 'Welwitschia' });
  expect(await create(plant)).toEqual({ name: 'Welwitschia' });
  expect(await create('{"id":9223372036854775807,"name":"Fern"}')).toMatchObject({ error: 409 });
  expect(await create('{"id":9223372036854775806,"name":"Fern"}')).toEqual({ name: 'Fern' });
});

test('of 60 concurrent creates of one id exactly one plant wins', async () => {
  const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => create(`{"id":60,"name":"${index}"}`)));
  expect(answers.filter((answer) => 'name' in answer)).toHaveLength(1);
  expect(answers.filter((answer) => answer['error'] === 409)).toHaveLength(59);
});

test('each request is a line on the terminal', async () => {
  await fetch(`${run.url}/1`);
  await expect.poll(() => run.output()).toMatch(/^GET {2}\/plants\/1 {2}400 {2}404 {2}\d+\.\d ms$/m);
});

test('a token issued beside the running service is valid at once, and a revoked one is refused', async () => {
  const issued = await project.run('npm run --silent token -- create --name visitor --expires 1h');
  expect(issued).toMatchObject({ code: 0, stdout: expect.stringMatching(/^plantstore_\w{43}\n$/) });
  const token = issued.stdout.trim();
  const listed = await project.run('npm run --silent token -- list');
  expect(listed.stdout).toMatch(/^visitor\s/m);
  expect(listed.stdout).not.toContain(token);
  await project.run('npm run --silent token -- revoke visitor');
  expect(await create('{"id":5,"name":"x"}', run.url, token)).toMatchObject({ error: 401 });
});

test('an event is invoked without a server of its own, and the exit status tells 200 from the rest', async () => {
  const created = await project.run('npm run --silent invoke -- events/create-plant-without-tag.json');
  expect(created.code).toBe(0);
  expect(inContract(JSON.parse(created.stdout))).toEqual({ name: 'Ficus lyrata' });
  const refused = await project.run('npm run --silent invoke -- events/error-401-no-token.json');
  expect(refused.code).toBe(1);
  expect(inContract(JSON.parse(refused.stdout))).toMatchObject({ error: 401 });
});

test.each([
  ['invoke -- events/none.json', {}, 'The event events/none.json does not exist.'],
  ['invoke -- README.md', {}, 'The event README.md must be a file of JSON'],
  ['invoke -- package.json', {}, 'The event package.json must be a REST proxy event, with httpMethod and resource.'],
  ['invoke', {}, 'One event file must be named'],
  ['token -- create', {}, 'Usage:'],
  [
    'token -- create --name ci --expires soon',
    {},
    '--expires was "soon"; it must be a number of minutes, hours or days',
  ],
  [
    'token -- create --name a/b',
    {},
    '--name was "a/b"; it must be 1 to 64 letters, digits, dots, dashes or underscores.',
  ],
  ['restore', {}, 'Usage: npm run restore -- --from TABLE'],
  ['start', { PORT: 'http' }, 'PORT was "http"; it must be a number from 0 to 65535.'],
  ['start', { PORT: '65536' }, 'PORT was "65536"; it must be a number from 0 to 65535.'],
  ...[
    'https://dynamodb.us-east-1.amazonaws.com',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'localhost:8000',
    'http://0.0.0.0:8000',
  ].map(
    (endpoint) =>
      [
        'start',
        { AWS_ENDPOINT_URL_DYNAMODB: endpoint },
        `AWS_ENDPOINT_URL_DYNAMODB was "${endpoint}"; it must be an http address of this machine (127.0.0.1, localhost or [::1]).`,
      ] as const,
  ),
] as [string, Record<string, string>, string][])(
  'npm run %s with %j ends with a sentence',
  async (command, variables, sentence) => {
    const { code, stderr } = await project.run(`npm run --silent ${command}`, variables);
    expect(code).toBe(1);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toMatch(/^\s+at /m);
  },
);

test('a port in use ends with a sentence', async () => {
  const blocker = createServer().listen(0, '127.0.0.1');
  await once(blocker, 'listening');
  const { port } = blocker.address() as AddressInfo;
  const { code, stderr } = await project.run('npm run --silent start', { PORT: String(port) });
  blocker.close();
  expect(code).toBe(1);
  expect(stderr).toContain(`Port ${port} is in use; set PORT to a free one, or to 0 for any.\n`);
});

test('what was stored is there after a kill, and SIGTERM answers what is in flight', async () => {
  await create('{"id":70,"name":"before the kill"}');
  run.kill();
  await run.exit;
  run = await project.start('npm start');
  expect(await create('{"id":70,"name":"after the kill"}')).toMatchObject({ error: 409 });
  expect(await create('{"id":70,"name":"before the kill"}')).toEqual({ name: 'before the kill' });

  const request = httpRequest(run.url, { method: 'POST', headers });
  request.write('{"id":71,');
  await once(request, 'socket');
  await create('{"id":72,"name":"so that the first has arrived"}');
  run.terminate();
  setTimeout(() => request.end('"name":"in flight"}'), 300);
  const [response] = await once(request, 'response');
  expect(response.statusCode).toBe(200);
  response.resume();
  expect(await run.exit).toBe(0);
});

test('npm run dev rebuilds on change, and goes on serving what it has where that fails', async () => {
  run = await project.start('npm run dev');
  const file = join(project.directory, 'functions/create-plant/create-plant.ts');
  const source = readFileSync(file, 'utf8');
  writeFileSync(file, `${source}syntax error`);
  await expect.poll(() => run.output(), POLL).toContain('The stack could not be synthesized');
  expect(await create('{"id":80,"name":"x"}')).toEqual({ name: 'x' });
  writeFileSync(file, source.replace('name: body.name', "name: 'changed'"));
  await expect.poll(() => run.output(), POLL).toContain('Rebuilt.');
  expect(await create('{"id":80,"name":"x"}')).toEqual({ name: 'changed' });
  run.terminate();
  expect(await run.exit).toBe(0);
});

test('another DynamoDB of this machine is given what is missing, and used', async () => {
  const server = dynalite({ createTableMs: 100 });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code } = await project.run('npm run --silent invoke -- events/create-plant.json', {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  });
  expect(code).toBe(0);
  const client = new DynamoDBClient({ endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS });
  const { Count } = await client.send(new ScanCommand({ TableName: 'DataPlants8CBE6BEF' }));
  expect(Count).toBe(1);
  client.destroy();
  server.closeAllConnections();
  server.close();
});
