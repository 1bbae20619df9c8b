import { exec } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { contractBody } from '../support/contract-body.ts';
import { sampleEvent } from '../support/event.ts';
import { listen } from '../support/listen.ts';
import { bodyOf, plantWith } from '../support/plant.ts';
import { copyProject, type LocalRun } from '../support/project-copy.ts';
import { post } from '../support/service.ts';

/* Runs npm start, npm run token and npm run invoke as a user does, in a copy of the project. */

/** Long enough for a slow machine. */
const POLL = { timeout: 120_000, interval: 20 };

const project = closedAtEnd(copyProject());
let run: LocalRun;
beforeAll(async () => {
  run = await project.start('npm start');
});

const token = (args: string) => project.run(`npm run --silent token -- ${args}`);

test('starts only one service in a folder', async () => {
  await expect(project.start('npm start')).rejects.toThrow(
    /^Another npm start of this folder is running: process \d+\. End it\.$/m,
  );
});

test('prints a curl command that creates a plant, a line for its response, and a command that lists it', async () => {
  const curl = /curl .*/.exec(run.output())?.[0].replace('-i', '-s') ?? '';
  expect(JSON.parse((await promisify(exec)(curl)).stdout)).toEqual(plantWith());
  await expect.poll(run.output, POLL).toMatch(/^POST \/plants {2}200 {2}\d+ ms$/m);
  const { stdout } = await project.run(`${/npm run plants$/m.exec(run.output())}`);
  const plant = new Map(Object.entries(plantWith()));
  const cells = ['name', 'tag'].map((member) => JSON.stringify(plant.get(member)) ?? '-');
  expect(stdout).toMatch(new RegExp(`^1 +${cells.join(' +')}$`, 'm'));
});

test('listens only on 127.0.0.1, under no other host name', async () => {
  const ports = run.output().match(/(?<=http:\/\/127\.0\.0\.1:)\d+$/gm) ?? [];
  expect(ports).toHaveLength(1);
  for (const port of [new URL(run.url).port, ...ports]) {
    await expect(once(connect(Number(port), '::1'), 'connect')).rejects.toThrow('::1');
    const { stdout } = await project.run(`curl -s -H Host:a.example http://127.0.0.1:${port}`);
    expect(stdout).toContain('The Host was "a.example"; ');
  }
});

test.each([
  '/@vite/client',
  '/@fs/etc/passwd',
  '/tools/start.ts',
  '/__open-in-editor',
  '/@id/vite',
  '/events/create-plant.json',
])('does not serve %s, as Vite does', async (path) => {
  const headers = { accept: 'text/x-vite-ping', 'sec-fetch-dest': 'script' };
  expect(await (await fetch(new URL(path, run.url), { headers })).json()).toMatchObject({ error: 404 });
});

test('accepts a token that is created while it runs', async () => {
  const { stdout } = await token('create --name visitor --expires 1h');
  expect(await post(run.url, bodyOf(5), stdout.trim())).toEqual(plantWith());
});

test.each(['PORT', 'DYNAMODB_PORT'])(
  'if %s is in use, says what to do; keeps its data, also when it was killed',
  async (variable) => {
    await post(run.url, bodyOf(70));
    run.kill();
    await run.exit;
    const server = createServer();
    onTestFinished(() => void server.close());
    const [, port = ''] = (await listen(server)).split(':');
    const { code, stderr } = await project.run('npm run --silent start', { PORT: '0', [variable]: port });
    const message = `Port ${port} is in use; set ${variable} to a free port, or to 0 for any free port.\n`;
    expect({ code, stderr }).toEqual({ code: 1, stderr: message });
    run = await project.start('npm start');
    expect(await post(run.url, bodyOf(70, plantWith({ name: 'another' })))).toMatchObject({ error: 409 });
  },
);

test('does not start if both ports in .env are the same, or the data is damaged', async () => {
  const other = copyProject();
  const start = async () => (await other.run('npm run --silent start')).stderr;
  writeFileSync(join(other.directory, '.env'), 'PORT=64321\nDYNAMODB_PORT=64321\n');
  expect(await start()).toBe('PORT and DYNAMODB_PORT are both 64321; they must be different.\n');
  writeFileSync(join(other.directory, '.env'), 'PORT=0\n');
  mkdirSync(join(other.directory, '.local/dynamodb'), { recursive: true });
  writeFileSync(join(other.directory, '.local/dynamodb/CURRENT'), 'damaged');
  expect(await start()).toMatch(
    /^The data in \S+ cannot be opened\. If no other process uses it, delete this folder\.\n$/,
  );
});

test('stores the development token at each start, and ends after Ctrl-C', async () => {
  await post(run.url, bodyOf(70));
  await token('revoke --name development');
  expect((await token('list')).stdout).not.toContain('development');
  run.interrupt();
  await run.exit;
  expect((await project.run('npm run --silent plants')).stderr).toContain('There is no local run. ');
  run = await project.start('npm start');
  expect(await post(run.url, bodyOf(70))).toEqual(plantWith());
});

test('ends after Ctrl-C, also while a function loops for ever', async () => {
  const file = join(project.directory, 'functions/create-plant/create-plant.ts');
  const code = readFileSync(file, 'utf8');
  writeFileSync(file, code.replace('const item =', "console.log('looping'); for (;;);\n    $&"));
  await expect.poll(run.output, POLL).toContain('\nReloaded in ');
  post(run.url, bodyOf(71)).catch(() => {});
  await expect.poll(run.output, POLL).toContain('\nlooping\n');
  run.interrupt();
  await run.exit;
  writeFileSync(file, code);
  run = await project.start('npm start');
});

test('npm run invoke runs an event on empty tables without a local run, and on its tables with one', async () => {
  const another = { ...sampleEvent('create-plant'), body: bodyOf(1, plantWith({ name: 'another' })) };
  writeFileSync(join(project.directory, 'another.json'), JSON.stringify(another));
  const invoke = (event: string) => project.run(['bash', '-c', `npm run --silent invoke -- ${event}`]);
  const created = await invoke('- < events/create-plant.json');
  expect(created.stderr).toMatch(/^Uses the tables of the local run\.\n\{\n {2}operation: 'createPlant',$/m);
  expect(created.code).toBe(0);
  expect(contractBody(JSON.parse(created.stdout))).toEqual(plantWith());
  const conflict = await invoke('another.json');
  expect(conflict.code).toBe(1);
  expect(contractBody(JSON.parse(conflict.stdout))).toMatchObject({ error: 409 });
  run.interrupt();
  await run.exit;
  const alone = await invoke('another.json');
  expect(alone.stderr).toMatch(/^Uses empty tables\.\n/);
  expect(contractBody(JSON.parse(alone.stdout))).toEqual(plantWith({ name: 'another' }));
});

test.each([
  ['none.json', 'The event none.json cannot be read: ENOENT'],
  ['package.json', 'The event package.json must be a REST proxy event, with httpMethod, resource and requestContext.'],
  ['unknown.json', 'openapi.yaml has no operation GET /unknown.'],
  ['object.json', 'The body of the event object.json was an object; it must be a string with JSON, or null.'],
])('npm run invoke says what is wrong with the event %s', async (file, message) => {
  const unknown = { httpMethod: 'GET', resource: '/unknown', requestContext: {} };
  writeFileSync(join(project.directory, 'unknown.json'), JSON.stringify(unknown));
  writeFileSync(join(project.directory, 'object.json'), JSON.stringify({ ...unknown, body: { id: 1 } }));
  const { code, stderr } = await project.run(`npm run --silent invoke -- ${file}`);
  expect(code).toBe(1);
  expect(stderr).toContain(message);
});

test('npm run invoke ends after a syntax error, and prints its file and line', async () => {
  writeFileSync(join(project.directory, 'functions/create-plant/index.ts'), 'const x = ;\n');
  const { code, stderr } = await project.run('npm run --silent invoke -- events/create-plant.json');
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^file:.*create-plant\/index\.ts:1\nconst x = ;\n(.*\n)*SyntaxError.* Expression expected \{\n/m,
  );
});
