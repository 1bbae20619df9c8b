import { exec } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { projectRoot, synthesize } from '../../tools/local/synthesize.ts';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { contractBody } from '../support/contract.ts';
import { copyProject, type LocalRun } from '../support/project-copy.ts';
import { post } from '../support/service.ts';

/* Runs npm start, npm run token and npm run invoke as a user does, in a copy of the project. */

/** Long enough for a slow machine. */
const POLL = { timeout: 120_000, interval: 20 };

const temporaryFolder = () => mkdtempSync(join(tmpdir(), 'plant-store-'));

test('synthesize makes the same template as cdk synth', async () => {
  const directory = temporaryFolder();
  const [own] = await Promise.all([
    synthesize(temporaryFolder()),
    promisify(exec)(`npx cdk synth --quiet --output ${directory}`, { cwd: projectRoot }),
  ]);
  for (const file of ['PlantStore.template.json', 'PlantStore.assets.json', 'manifest.json']) {
    const read = (assembly: string) => JSON.parse(readFileSync(join(assembly, file), 'utf8'));
    expect(read(own)).toEqual(read(directory));
  }
});

const project = closedAtEnd(copyProject());
let run: LocalRun;
beforeAll(async () => {
  run = await project.start('npm start');
});

const token = (args: string) => project.run(`npm run --silent token -- ${args}`);

test('starts only one service in a folder', async () => {
  await expect(project.start('npm start')).rejects.toThrow(
    /^Another npm start or npm run dev of this folder is running: process \d+\. End it\.$/m,
  );
});

test('prints a curl command that creates a plant, a line for its response, and a command that lists it', async () => {
  const curl = /curl .*/.exec(run.output())?.[0].replace('-i', '-s') ?? '';
  expect((await promisify(exec)(curl)).stdout).toBe('{"name":"Monstera deliciosa","tag":"climber"}');
  await expect.poll(run.output, POLL).toMatch(/^POST {2}\/plants {2}200 {2}- {2}\d+\.\d ms$/m);
  const { stdout } = await project.run(`${/npm run plants$/m.exec(run.output())}`);
  expect(stdout).toMatch(/^1 +"Monstera deliciosa" "climber"$/m);
});

test('serves the reference page at the printed URL, and names it in the response for its root', async () => {
  expect((await fetch(/http:\S+\/docs$/m.exec(run.output())?.[0] ?? '')).status).toBe(200);
  const response = await fetch(new URL(run.url).origin);
  expect(response.headers.get('link')).toBe('</docs/>; rel="service-doc"');
  expect(await response.json()).toMatchObject({ error: 404 });
});

test('listens only on 127.0.0.1', async () => {
  const { port } = new URL(run.url);
  await expect(once(connect(Number(port), '::1'), 'connect')).rejects.toThrow('::1');
});

test('accepts a token that is created while it runs', async () => {
  const { stdout } = await token('create --name visitor --expires 1h');
  expect(await post(run.url, '{"id":5,"name":"x"}', stdout.trim())).toEqual({ name: 'x' });
});

test('keeps its data if it is killed, and stores the development token at each start', async () => {
  await post(run.url, '{"id":70,"name":"before the kill"}');
  await token('revoke --name development');
  expect((await token('list')).stdout).not.toContain('development');
  run.kill();
  await run.exit;
  run = await project.start('npm start');
  expect(await post(run.url, '{"id":70,"name":"after the kill"}')).toMatchObject({ error: 409 });
  expect(await post(run.url, '{"id":70,"name":"before the kill"}')).toEqual({ name: 'before the kill' });
});

test('uses at most 300 MB after 5,000 requests', async () => {
  const create = async (firstId: number) => {
    for (let id = firstId; id < firstId + 500; id += 1) await post(run.url, `{"id":${id},"name":"x"}`);
  };
  await Promise.all(Array.from({ length: 10 }, (_, connection) => create(1000 * (connection + 1))));
  const { pid } = JSON.parse(readFileSync(join(project.directory, '.local/service.json'), 'utf8'));
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const kilobytes = [pid, ...children].map((each) =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${each}/status`, 'utf8'))?.[1]),
  );
  expect(kilobytes.reduce((sum, each) => sum + each) / 1024).toBeLessThan(300);
});

test('npm run invoke runs an event without a server, and exits with status 0 only for a 200', async () => {
  const [created, rejected] = await Promise.all(
    ['create-plant', 'create-plant-no-token'].map((name) =>
      project.run(`npm run --silent invoke -- events/${name}.json`),
    ),
  );
  expect(created?.code).toBe(0);
  expect(contractBody(JSON.parse(created?.stdout ?? ''))).toEqual({ name: 'Monstera deliciosa', tag: 'climber' });
  expect(created?.stderr).toMatch(/^INFO \{\n {2}operation: 'createPlant',$/m);
  expect(rejected?.code).toBe(1);
  expect(contractBody(JSON.parse(rejected?.stdout ?? ''))).toMatchObject({ error: 401 });
});
