import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { LOCAL_CREDENTIALS } from '../local/dynamodb.ts';
import { LOCAL_REGION, readTemplate } from '../local/template.ts';
import { inContract } from './support/contract.ts';
import { startFaultProxy } from './support/fault-proxy.ts';
import { copyProject, type LocalRun, type ProjectCopy } from './support/project-copy.ts';

const PUT_PLANT = `PutItem ${readTemplate(inject('assembly')).outputs['PlantsTableName']}`;

let project: ProjectCopy;
let run: LocalRun;
/** Why the second of two that were started at once did not come up. */
let refusal: string;
beforeAll(async () => {
  project = copyProject();
  const both = await Promise.allSettled([project.start('npm start'), project.start('npm start')]);
  const [first, ...others] = both.filter((start) => start.status === 'fulfilled').map(({ value }) => value);
  if (!first || others.length > 0) throw new Error(`Of two services ${others.length + (first ? 1 : 0)} came up.`);
  run = first;
  refusal = String(both.find((start) => start.status === 'rejected')?.reason);
});
afterAll(() => project.remove());

/** Ends a hang, on a slow machine too. */
const POLL = { timeout: 120_000, interval: 50 };
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

test('of two services that are started at once, one comes up, and the other says what to do', () => {
  expect(refusal).toMatch(
    /^Another npm start or npm run dev of this folder is running and has its data, \.local\/, open \(process \d+\)\. End it, or set AWS_ENDPOINT_URL_DYNAMODB to another DynamoDB of this machine\.$/m,
  );
});

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
  await fetch(`${run.url}/1/none`);
  await expect.poll(() => run.output()).toMatch(/^GET {2}\/plants\/1\/none {2}400 {2}404 {2}\d+\.\d ms$/m);
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

test.concurrent.each([
  ['invoke -- events/none.json', {}, 'The event events/none.json does not exist.'],
  ['invoke -- README.md', {}, 'The event README.md must be a file of JSON'],
  ['invoke -- package.json', {}, 'The event package.json must be a REST proxy event, with httpMethod and resource.'],
  ['invoke', {}, 'EVENT is missing.'],
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
  [
    'start',
    { AWS_ENDPOINT_URL_DYNAMODB: 'https://dynamodb.us-east-1.amazonaws.com' },
    'AWS_ENDPOINT_URL_DYNAMODB was "https://dynamodb.us-east-1.amazonaws.com"; it must be an http address of this machine',
  ],
] as [string, Record<string, string>, string][])(
  'npm run %s with %j ends with a sentence',
  async (command, variables, sentence) => {
    const { code, stderr } = await project.run(`npm run --silent ${command}`, variables);
    expect(code).toBe(1);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toMatch(/^\s+at /m);
  },
);

/** The DynamoDB of the running service, which a second service may be told to use. */
const dynamoDbOf = (service: LocalRun) => /DynamoDB listens at (\S+)\)/.exec(service.output())?.[1] ?? '';

test('a port in use ends with a sentence', async () => {
  const { port } = new URL(run.url);
  const { code, stderr } = await project.run('npm run --silent start', {
    PORT: port,
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDbOf(run),
  });
  expect(code).toBe(1);
  expect(stderr).toContain(`Port ${port} is in use; set PORT to a free one, or to 0 for any.\n`);
});

test('what was stored is there after a kill, and the development token after each start', async () => {
  await create('{"id":70,"name":"before the kill"}');
  await project.run('npm run --silent token -- revoke development');
  // Had the list put the token back, it would have renewed its time before.
  expect((await project.run('npm run --silent token -- list')).stdout).not.toContain('development');
  run.kill();
  await run.exit;

  // A command that has the data open as the service starts is waited for.
  const { openLocalDynamoDb }: typeof import('../local/dynamodb.ts') = await import(
    join(project.directory, 'local/dynamodb.ts')
  );
  const command = await openLocalDynamoDb(readTemplate(inject('assembly')), { developmentToken: false });
  setTimeout(() => command.close(), 1000);
  run = await project.start('npm start');
  expect(await create('{"id":70,"name":"after the kill"}')).toMatchObject({ error: 409 });
  expect(await create('{"id":70,"name":"before the kill"}')).toEqual({ name: 'before the kill' });
});

test('Ctrl-C answers what is in flight, whatever else is connected', async () => {
  const database = await startFaultProxy(dynamoDbOf(run));
  const second = await project.start('npm start', { AWS_ENDPOINT_URL_DYNAMODB: database.endpoint });
  const { port } = new URL(second.url);
  const head = 'POST /plants HTTP/1.1\r\nhost: x\r\n';
  const others = ['', head, `${head}content-length: 9\r\n\r\n{`].map((bytes) => {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
    socket.write(bytes);
    return socket;
  });
  await create('{"id":71,"name":"so that the others have arrived"}', second.url);
  database.calls.length = 0;
  // The SDK's second attempt, a second later, is answered.
  database.plan({ call: PUT_PLANT, fault: 'hangs', times: 1, applied: false });
  const answer = create('{"id":72,"name":"in flight"}', second.url);
  await expect.poll(() => database.calls, POLL).toContain(PUT_PLANT);
  second.interrupt();
  expect(await answer).toEqual({ name: 'in flight' });
  expect(await second.exit).toBe(0);
  for (const socket of others) socket.destroy();
  database.close();
});

test('a second Ctrl-C ends it at once', async () => {
  const database = await startFaultProxy(dynamoDbOf(run));
  const second = await project.start('npm start', { AWS_ENDPOINT_URL_DYNAMODB: database.endpoint });
  database.calls.length = 0;
  database.plan({ call: PUT_PLANT, fault: 'hangs', times: 9, applied: false });
  const answer = create('{"id":73,"name":"x"}', second.url).catch(() => 'none');
  await expect.poll(() => database.calls, POLL).toContain(PUT_PLANT);
  second.interrupt();
  await sleep(500);
  second.interrupt();
  // Waited for, it would be error 503, after some seconds.
  expect(await answer).toBe('none');
  expect(await second.exit).not.toBe(0);
  database.close();
});

test('npm run dev serves each edit, and goes on serving what it has where that fails', async () => {
  const copy = copyProject();
  onTestFinished(copy.remove);
  const dev = await copy.start('npm run dev');
  const rebuilt = () => dev.output().match(/^Rebuilt\.$/gm)?.length ?? 0;
  /** Changes a file. Returns what changes it back. */
  const edit = (path: string, change: (source: string) => string) => {
    const file = join(copy.directory, path);
    const source = readFileSync(file, 'utf8');
    writeFileSync(file, change(source));
    return () => writeFileSync(file, source);
  };

  const undoFinding = edit('infra/operation-function.ts', (source) => source.replace('AwsSolutions-IAM5', 'none'));
  await expect.poll(() => dev.output(), POLL).toMatch(/The stack could not be synthesized.*AwsSolutions-IAM5/s);
  expect(await create('{"id":80,"name":"x"}', dev.url)).toEqual({ name: 'x' });
  undoFinding();

  const undoContract = edit('openapi.yaml', () => 'openapi: [');
  await expect.poll(() => dev.output(), POLL).toContain('Nothing can be generated from openapi.yaml: ');
  expect(await create('{"id":80,"name":"x"}', dev.url)).toEqual({ name: 'x' });
  undoContract();

  edit('openapi.yaml', (source) => source.replace(/name:\n\s+type: string/, '$&\n          maxLength: 3'));
  await expect.poll(() => create('{"id":81,"name":"too long"}', dev.url), POLL).toMatchObject({ error: 400 });
  // Were the generated files a change of their own, it would rebuild for ever.
  const before = rebuilt();
  await sleep(2000);
  expect(rebuilt()).toBeLessThanOrEqual(before + 1);
  dev.terminate();
  expect(await dev.exit).toBe(0);
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
