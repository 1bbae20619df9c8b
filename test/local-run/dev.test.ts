import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { bodyOf, plantWith } from '../support/plant.ts';
import { copyProject, type LocalRun } from '../support/project-copy.ts';
import { post } from '../support/service.ts';

/* Runs npm run dev as a user does, in a copy of the project. */

/** Long enough for a slow machine. */
const POLL = { timeout: 60_000, interval: 20 };

const FUNCTION = 'functions/create-plant/create-plant.ts';

const project = closedAtEnd(copyProject());
let dev: LocalRun;
beforeAll(async () => {
  for (const command of [
    'init --quiet',
    'add --all',
    '-c user.name=x -c user.email=x@example.com commit --quiet -m 1',
  ]) {
    expect(await project.run(`git ${command}`)).toMatchObject({ code: 0 });
  }
  dev = await project.start('npm run dev');
  // Otherwise each test would wait for this response until its time is up.
  expect(await create('x')).toEqual(plantWith({ name: 'x' }));
});

const path = (file: string) => join(project.directory, file);

/** Changes a file until the test ends. */
function edit(file: string, change: (source: string) => string): void {
  onTestFinished(async () => {
    await project.run(`git checkout ${file}`);
  });
  writeFileSync(path(file), change(readFileSync(path(file), 'utf8')));
}

/** Creates a plant with a new id. Returns the response's body. */
const create = (name: string) => post(dev.url, bodyOf(Date.now(), plantWith({ name })));

/** Changes the name in the response of the function. */
const withName = (source: string, name: string) =>
  source.replace('membersOf(item, plantType)', `{ ...$&, name: '${name}' }`);

test('responds to each request during a reload', async () => {
  edit(FUNCTION, (source) => withName(source, 'reloaded'));
  const names = new Set<unknown>();
  while (!names.has('reloaded')) names.add((await create('x'))['name']);
  expect(names).not.toContain(undefined);
});

test('serves an edited function, and shows its type errors', async () => {
  const wrong = "export const wrong: number = 'x';\n";
  edit(FUNCTION, (source) => withName(source, 'edited') + wrong);
  await expect.poll(() => create('x'), POLL).toEqual(plantWith({ name: 'edited' }));
  await expect.poll(dev.output, POLL).toMatch(/^functions\/create-plant\/create-plant\.ts\(\d+,14\): error TS2322: /m);
});

test('prints a syntax error, returns error 500, and recovers with the next save', async () => {
  const source = readFileSync(path(FUNCTION), 'utf8');
  edit(FUNCTION, () => `${source}const x = ;\n`);
  await expect.poll(dev.output, POLL).toMatch(/create-plant\.ts:\d+\n.*\nconst x = ;\n/);
  await expect.poll(dev.output, POLL).toMatch(/^Waiting for a change\.$/m);
  expect(await create('x')).toEqual({ error: 500, message: expect.stringContaining('\nconst x = ;\n') });
  writeFileSync(path(FUNCTION), source);
  await expect.poll(() => create('x'), POLL).toEqual(plantWith({ name: 'x' }));
});

test('prints an error after the response, and still responds', async () => {
  const late = "setTimeout(() => { throw new Error('thrown late'); }); void Promise.reject(new Error('not awaited'));";
  edit(FUNCTION, (source) => source.replace('    return success', `    ${late}\n$&`));
  await expect.poll(() => create('x').then(dev.output), POLL).toContain('Error: not awaited\n    at ');
  await expect.poll(dev.output, POLL).toContain('Error: thrown late\n    at ');
  expect(await create('x')).toEqual(plantWith({ name: 'x' }));
});

test('notices each time that git replaces openapi.yaml', async () => {
  const contract = readFileSync(path('openapi.yaml'), 'utf8');
  edit('openapi.yaml', () => contract.replace(/name:\n\s+type: string/, '$&\n          maxLength: 3'));
  await project.run('git -c user.name=x -c user.email=x@example.com commit --quiet -a -m 2');
  for (const [commit, response] of [
    ['HEAD~1', plantWith({ name: 'long name' })],
    ['HEAD', { error: 400 }],
    ['HEAD~1', plantWith({ name: 'long name' })],
  ]) {
    await project.run(`git checkout ${commit} openapi.yaml`);
    await expect.poll(() => create('long name'), POLL).toMatchObject(response as object);
  }
});

test('keeps the service while the contract is not valid', async () => {
  edit('openapi.yaml', () => 'openapi: [');
  await expect.poll(dev.output, POLL).toContain('Cannot generate code from openapi.yaml: ');
  expect(await create('x')).toHaveProperty('name');
});
