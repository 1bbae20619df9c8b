import { exec } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { contractBody } from '../support/contract-body.ts';
import { bodyOf, plantWith, sampleEvent } from '../support/event.ts';
import { copyProject, type LocalRun } from '../support/project-copy.ts';
import { post } from '../support/service.ts';

/* Runs npm start and the other commands as a user does, in a copy of the project. */

const project = closedAtEnd(copyProject());
let localRun: LocalRun;
const start = async () => {
  localRun = await project.start();
};
beforeAll(start);

test('prints a line for each response, and how to list the plants', async () => {
  await post(localRun.url, bodyOf(1));
  await expect.poll(localRun.output).toMatch(/^POST \/plants {2}200 {2}\d+ ms$/m);
  expect((await localRun.run('npm run --silent plants')).stdout).toContain('{"id":1,');
  expect(localRun.output()).toMatch(/npm run plants\n.* PORT and DYNAMODB_PORT .*\.env/);
});

test.each([
  ['npm start prints', () => localRun.output()],
  ['README.md shows', () => readFileSync('README.md', 'utf8')],
])('the curl command that %s creates a plant', async (_, text) => {
  const [curl = ''] = /curl (.*\\\n)*.*/.exec(text()) ?? [];
  const here = curl.replace('-i ', '').replace('http://127.0.0.1:3000', new URL(localRun.url).origin);
  expect(JSON.parse((await promisify(exec)(here)).stdout)).toEqual(plantWith());
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
  await post(localRun.url, bodyOf(70));
  expect(await localRun.run('npm run --silent token -- revoke --name development')).toMatchObject({ code: 0 });
  await project.close();
  await start();
  expect(await post(localRun.url, bodyOf(70, plantWith('another')))).toMatchObject({ error: 409 });
});

test('does not start if the port or the data is in use, or an origin is wrong', async () => {
  const startIn = (copy: typeof project, PORT = '0') =>
    copy.run('npm run --silent start', { PORT, DYNAMODB_PORT: '0' });
  const { port } = new URL(localRun.url);
  const stderr = expect.stringMatching(`^.* ${port} .*\n$`);
  expect(await startIn(project, port)).toEqual({ code: 1, stdout: '', stderr });
  expect((await startIn(project)).stderr).toMatch(/^.*\.local\/dynamodb .*npm start.*delete.*\n$/);
  const other = copyProject();
  writeFileSync(join(other.directory, '.env'), 'ALLOW_ORIGINS=https://a.example/');
  expect((await startIn(other)).stderr).toMatch(/^ALLOW_ORIGINS .*"https:\/\/a\.example\/".*\n$/);
});

const invoke = (event: string) => localRun.run(['bash', '-c', `npm run --silent invoke -- ${event}`]);

test('npm run invoke runs an event on the tables of the local run, and on empty tables without one', async () => {
  const another = { ...sampleEvent('create-plant'), body: bodyOf(1, plantWith('another')) };
  writeFileSync(join(project.directory, 'another.json'), JSON.stringify(another));
  await post(localRun.url, bodyOf(1));
  const conflict = await invoke('- < another.json');
  expect(conflict.stderr).toMatch(/^.* the local run at http:\S+\n\{\n {2}operation: 'POST \/plants',$/m);
  expect(contractBody(JSON.parse(conflict.stdout))).toMatchObject({ error: 409 });
  await project.close();
  const alone = await invoke('another.json');
  await start();
  expect(alone.stderr).toMatch(/^.* empty .*\n/);
  expect(contractBody(JSON.parse(alone.stdout))).toEqual(plantWith('another'));
  expect([conflict.code, alone.code]).toEqual([1, 0]);
});

test.each([
  ['none.json', ' none.json .*ENOENT'],
  ['package.json', ' package.json .*httpMethod, resource and requestContext'],
  [`- <<< '{"httpMethod":"POST","resource":"/plants","requestContext":{},"body":{"id":1}}'`, 'body .* object'],
])('npm run invoke says what is wrong with the event %s', async (event, message) => {
  const stderr = expect.stringMatching(`^.*${message}.*\n$`);
  expect(await invoke(event)).toEqual({ code: 1, stdout: '', stderr });
});
