import { exec } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { contractBody } from '../support/contract-body.ts';
import { sampleEvent } from '../support/event.ts';
import { bodyOf, plantWith } from '../support/plant.ts';
import { copyProject, type LocalRun } from '../support/project-copy.ts';
import { post } from '../support/service.ts';

/* Runs npm start and the other commands as a user does, in a copy of the project. */

/** Long enough for a slow machine. */
const POLL = { timeout: 60_000, interval: 20 };

const project = closedAtEnd(copyProject());
let run: LocalRun;
const start = async () => {
  run = await project.start('npm start -- --inspect', { NODE_OPTIONS: '--inspect-port=0' });
};
beforeAll(start);

test('prints a curl command that creates a plant, a line for its response, and the debugger’s address', async () => {
  expect(run.output()).toMatch(/^Debugger listening on ws:/m);
  const curl = /curl .*/.exec(run.output())?.[0].replace('-i', '-s') ?? '';
  expect(JSON.parse((await promisify(exec)(curl)).stdout)).toEqual(plantWith());
  await expect.poll(run.output, POLL).toMatch(/^POST \/plants {2}200 {2}\d+ ms$/m);
  expect((await project.run('npm run --silent plants')).stdout).toContain(`${bodyOf(1)}\n`);
  const hint = 'So that the commands find this local run, put PORT and DYNAMODB_PORT into the file .env.';
  expect(run.output()).toContain(`\nList what is stored: npm run plants\n${hint}\n\n`);
});

test('neither npm start nor another command loads the CDK', async () => {
  const preload =
    "data:text/javascript,process.on('exit',()=>console.log(Object.keys(process.getBuiltinModule('module')._cache).join()))";
  for (const command of ['start', 'invoke', 'token', 'plants']) {
    const { stdout } = await project.run(['node', '--import', preload, `tools/${command}.ts`, '--help']);
    expect(stdout).toContain('/node_modules/@aws-sdk/client-dynamodb/');
    expect(stdout).not.toContain('/node_modules/aws-cdk-lib/');
  }
});

test('keeps its data when it is killed, and stores the development token at each start', async () => {
  await post(run.url, bodyOf(70));
  expect(await project.run('npm run --silent token -- revoke --name development')).toMatchObject({ code: 0 });
  run.kill();
  await run.exit;
  await start();
  expect(await post(run.url, bodyOf(70, plantWith({ name: 'another' })))).toMatchObject({ error: 409 });
});

test('does not start if the port or the data is in use, the data is damaged, or an origin is wrong', async () => {
  const startIn = (copy: typeof project, PORT = '0') =>
    copy.run('npm run --silent start', { PORT, DYNAMODB_PORT: '0' });
  const { port } = new URL(run.url);
  const stderr = expect.stringMatching(`^Port ${port} is in use, .*\n$`);
  expect(await startIn(project, port)).toEqual({ code: 1, stdout: '', stderr });
  const locked = await startIn(project);
  expect(locked.stderr).toMatch(/^The data in \S+ cannot be opened\. End the process that uses it, .*\n$/);
  const other = copyProject();
  writeFileSync(join(other.directory, '.env'), 'ALLOW_ORIGINS=https://a.example/');
  expect((await startIn(other)).stderr).toMatch(/^ALLOW_ORIGINS was "https:\/\/a\.example\/"; it must be /);
  mkdirSync(join(other.directory, '.local/dynamodb'), { recursive: true });
  writeFileSync(join(other.directory, '.local/dynamodb/CURRENT'), 'damaged');
  expect((await startIn(other)).stderr).toMatch(/^The data in \S+ cannot be opened\. .* or delete this folder\.\n$/);
});

test('npm run invoke runs an event on the tables of the local run, and on empty tables without one', async () => {
  const another = { ...sampleEvent('create-plant'), body: bodyOf(1, plantWith({ name: 'another' })) };
  writeFileSync(join(project.directory, 'another.json'), JSON.stringify(another));
  const invoke = (event: string) => project.run(['bash', '-c', `npm run --silent invoke -- ${event}`]);
  const created = await invoke('- < events/create-plant.json');
  expect(created.stderr).toMatch(/^Uses the local run at http:\S+\n\{\n {2}operation: 'POST \/plants',$/m);
  expect(created.code).toBe(0);
  expect(contractBody(JSON.parse(created.stdout))).toEqual(plantWith());
  const conflict = await invoke('another.json');
  expect(conflict.code).toBe(1);
  expect(contractBody(JSON.parse(conflict.stdout))).toMatchObject({ error: 409 });
  run.interrupt();
  await run.exit;
  const alone = await invoke('another.json');
  await start();
  expect(alone.stderr).toMatch(/^Uses empty tables\.\n/);
  expect(contractBody(JSON.parse(alone.stdout))).toEqual(plantWith({ name: 'another' }));
});

test.each([
  ['none.json', 'The event none.json cannot be read: ENOENT'],
  ['package.json', 'The event package.json must be a REST proxy event, with httpMethod, resource and requestContext.'],
  ['unknown.json', 'The event unknown.json was for GET /unknown; it must be for an operation of openapi.yaml.'],
  ['object.json', 'The body of the event object.json was an object; it must be a string with JSON, or null.'],
])('npm run invoke says what is wrong with the event %s', async (file, message) => {
  const unknown = { httpMethod: 'GET', resource: '/unknown', requestContext: {} };
  writeFileSync(join(project.directory, 'unknown.json'), JSON.stringify(unknown));
  const object = { httpMethod: 'POST', resource: '/plants', requestContext: {}, body: { id: 1 } };
  writeFileSync(join(project.directory, 'object.json'), JSON.stringify(object));
  const ended = await project.run(`npm run --silent invoke -- ${file}`);
  expect(ended).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
});

test('ends after Ctrl-C, also while a function loops for ever', async () => {
  const other = copyProject();
  onTestFinished(other.close);
  const file = join(other.directory, 'functions/create-plant/create-plant.ts');
  const loop = "=> {\n    console.log('looping');\n    for (;;);";
  writeFileSync(file, readFileSync(file, 'utf8').replace(/(?<=async \(\{ body.*)=> \{/, loop));
  const looping = await other.start('npm start');
  post(looping.url, bodyOf(71)).catch(() => {});
  await expect.poll(looping.output, POLL).toContain('\nlooping\n');
  looping.interrupt();
  await looping.exit;
});
