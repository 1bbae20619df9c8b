import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { LOCAL_CREDENTIALS } from '../local/dynamodb.ts';
import { LOCAL_REGION, readTemplate } from '../local/template.ts';
import { inContract } from './support/contract.ts';
import { copyProject, type LocalRun, type ProjectCopy } from './support/project-copy.ts';

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

const headers = { authorization: `Bearer ${DEVELOPMENT_TOKEN}`, 'content-type': 'application/json' };

async function create(body: string, token = DEVELOPMENT_TOKEN) {
  const response = await fetch(run.url, {
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

test('of two services that are started at once, one comes up, and the other says what to do', () => {
  expect(refusal).toMatch(
    /^Another npm start or npm run dev of this folder is running and has its data, \.local\/, open \(process \d+\)\. End it, or set AWS_ENDPOINT_URL_DYNAMODB to another DynamoDB of this machine\.$/m,
  );
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

test('a token issued beside the running service is valid at once, and a revoked one is refused', async () => {
  const issued = await project.run('npm run --silent token -- create --name visitor --expires 1h');
  expect(issued).toMatchObject({ code: 0, stdout: expect.stringMatching(/^plantstore_\w{43}\n$/) });
  const token = issued.stdout.trim();
  const listed = await project.run('npm run --silent token -- list');
  expect(listed.stdout).toMatch(/^visitor\s/m);
  expect(listed.stdout).not.toContain(token);
  await project.run('npm run --silent token -- revoke visitor');
  expect(await create('{"id":5,"name":"x"}', token)).toMatchObject({ error: 401 });
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
