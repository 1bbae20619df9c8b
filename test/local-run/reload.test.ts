import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { bodyOf, plantWith } from '../support/plant.ts';
import { copyProject, type LocalRun } from '../support/project-copy.ts';
import { post } from '../support/service.ts';

/* Changes files of a copy of the project while npm start runs, as a developer does. */

/** Long enough for a slow machine. */
const POLL = { timeout: 120_000, interval: 20 };

const FUNCTION = 'functions/create-plant/create-plant.ts';
const CONTRACT = 'openapi.yaml';

const project = closedAtEnd(copyProject());
const path = (file: string) => join(project.directory, file);
const read = (file: string) => readFileSync(path(file), 'utf8');
const write = (file: string, text: string) => writeFileSync(path(file), text);
const git = async (args: string) => expect(await project.run(`git ${args}`)).toMatchObject({ code: 0 });
const commit = () => git('-c user.name=x -c user.email=x@example.com commit --quiet --all --message x');

const code = read(FUNCTION);
const contract = read(CONTRACT);
/** The code of a function that only responds with a name, because a slow machine's database can fail. */
const codeWith = (name: string) => code.replace('const item =', `return successResponse({ name: '${name}' });\n    $&`);

let run: LocalRun;
/** Creates a plant with a new id. Returns the response's body. */
const create = (name = 'x') => post(run.url, bodyOf(Date.now(), plantWith({ name })));
const expectResponse = (body: object) => expect.poll(() => create(), POLL).toEqual(body);
/** Waits until the function responds with this name, or with that of the request. */
const expectName = (name?: string) => expectResponse(name === undefined ? plantWith({ name: 'x' }) : { name });

/** Makes a change, and waits until it is loaded. */
async function expectReload(change: () => void): Promise<void> {
  const count = () => run.output().split('\nReloaded in ').length;
  const before = count();
  change();
  await expect.poll(count, POLL).toBeGreaterThan(before);
}

beforeAll(async () => {
  await git('init --quiet');
  await git('add --all');
  await commit();
  await git('tag start');
  run = await project.start('npm start -- --inspect', { NODE_OPTIONS: '--inspect-port=0' });
  // Otherwise each test would wait for this response until its time is up.
  expect(await create()).toEqual(plantWith({ name: 'x' }));
});

afterEach(async () => {
  await git('reset --quiet --hard start');
  await git('clean --quiet --force -d functions');
  await expectName();
});

test('responds to each request during five reloads, and never with old code after new code', async () => {
  const names: unknown[] = [];
  let isDone = false;
  const client = async () => {
    while (!isDone) names.push((await create())['name']);
  };
  const clients = [client(), client(), client()];
  for (const name of ['1', '2', '3', '4', '5']) {
    write(FUNCTION, codeWith(name));
    await expect.poll(() => names.at(-1), POLL).toBe(name);
  }
  isDone = true;
  await Promise.all(clients);
  expect([...new Set(names)].filter((name) => name !== 'x')).toEqual(['1', '2', '3', '4', '5']);
});

test('a request that is running finishes with the old code', async () => {
  const wait = `
    console.log('waiting');
    while (!process.getBuiltinModule('node:fs').existsSync('finish')) await new Promise((resolve) => setTimeout(resolve, 20));
    return success`;
  await expectReload(() => write(FUNCTION, codeWith('old').replace('return success', wait)));
  const running = create();
  await expect.poll(run.output, POLL).toMatch(/^waiting$/m);
  await expectReload(() => write(FUNCTION, codeWith('new')));
  await expectName('new');
  write('finish', '');
  expect(await running).toEqual({ name: 'old' });
});

const saveAsVim = (text: string) => {
  renameSync(path(FUNCTION), path(`${FUNCTION}~`));
  write(FUNCTION, text);
  rmSync(path(`${FUNCTION}~`));
};
const checkOut = async (text: string) => {
  write(FUNCTION, text);
  await commit();
  await git(`checkout --quiet start ${FUNCTION}`);
  await expectName();
  await git(`checkout --quiet HEAD ${FUNCTION}`);
};
test.each([
  ['vim saves', saveAsVim],
  ['git checks out', checkOut],
])('serves a file that %s, each time', async (_, save) => {
  for (const name of ['1', '2', '3']) {
    await save(codeWith(name));
    await expectName(name);
  }
});

test.each([
  ['has a syntax error', `${code}const x = ;\n`, /create-plant\.ts:\d+:\d+(.*\n)+.*const x = ;/],
  ['imports a missing package', `import 'new';\n${code}`, /^Cannot find module 'new' imported from .*plant\.ts/],
  ['throws', `${code}throw new Error('thrown');\n`, /^Error: thrown\n +at .*create-plant\.ts:\d+:7\b/],
])('says why a function that %s cannot be loaded, and recovers', async (_, text, reason) => {
  write(FUNCTION, text);
  await expectResponse({ error: 500, message: expect.stringMatching(reason) });
  const { message } = await create();
  await expect.poll(run.output, POLL).toContain(`\n${message}\n`);
  expect(message).not.toMatch(/node:|node_modules\/vite\//);
  write(FUNCTION, code);
  await expectName();
});

test('a missing function fails on its route only, until it is written', async () => {
  const operation = 'operationId: newOperation, responses: { "200": { description: x }, "400": { description: x } }';
  write(CONTRACT, contract.replace('paths:\n', `$&  /new:\n    get: { ${operation} }\n`));
  const readNew = async () => (await fetch(new URL('/new', run.url))).text();
  const message = 'functions/new-operation/index.ts is missing: docs/changing.md shows how to write it.';
  await expect.poll(readNew, POLL).toBe(JSON.stringify({ error: 500, message }));
  await expect.poll(run.output, POLL).toContain(`\n${message}\n`);
  expect(run.output()).toMatch(/\nThe routes are .*\bGET \/new\b.*\.\n/);
  expect(await create()).toEqual(plantWith({ name: 'x' }));
  mkdirSync(path('functions/new-operation'), { recursive: true });
  write('functions/new-operation/index.ts', '');
  await expect.poll(readNew, POLL).toContain('functions/new-operation/index.ts must export a function named handler.');
  write('functions/new-operation/index.ts', "export const handler = async () => ({ statusCode: 200, body: 'new' });");
  await expect.poll(readNew, POLL).toBe('new');
  rmSync(path('functions/new-operation/index.ts'));
  await expect.poll(readNew, POLL).toContain(message);
});

test('a contract that is not valid fails on all routes, until it is valid', async () => {
  write(CONTRACT, 'openapi: [');
  await expectResponse({ error: 500, message: expect.stringContaining('Cannot generate code from openapi.yaml: ') });
  await expect.poll(run.output, POLL).toMatch(/^Cannot generate code from openapi\.yaml: /m);
  write(CONTRACT, contract.replace(/name:\n\s+type: string/, '$&\n          maxLength: 3'));
  await expect.poll(() => create('long'), POLL).toMatchObject({ error: 400 });
  write(CONTRACT, contract);
  await expect.poll(() => create('long'), POLL).toEqual(plantWith({ name: 'long' }));
});

test('prints type errors, and when there are no more', async () => {
  write(FUNCTION, `${code}export const wrong: number = 'x';\n`);
  await expect.poll(run.output, POLL).toMatch(/^functions\/create-plant\/create-plant\.ts\(\d+,14\): error TS2322: /m);
  write(FUNCTION, code);
  await expect.poll(run.output, POLL).toMatch(/^Types: OK$/m);
});

test('prints an error after the response, and still responds', async () => {
  const late = "setTimeout(() => { throw new Error('thrown late'); }); void Promise.reject(new Error('not awaited'));";
  write(FUNCTION, codeWith('late').replace('return success', `${late} $&`));
  await expectName('late');
  await expect.poll(run.output, POLL).toContain('Error: not awaited\n    at ');
  await expect.poll(run.output, POLL).toContain('Error: thrown late\n    at ');
  expect(await create()).toEqual({ name: 'late' });
});

test('a debugger stops at the line of the source, before and after a reload', async () => {
  const debugging = new WebSocket(/ws:\S+/.exec(run.output())?.[0] ?? '');
  const sourceMaps = new Map<string, string>();
  const stops: string[] = [];
  debugging.addEventListener('message', ({ data }) => {
    const { method, params } = JSON.parse(String(data));
    if (method === 'Debugger.scriptParsed') sourceMaps.set(params.scriptId, params.sourceMapURL);
    if (method !== 'Debugger.paused') return;
    const { scriptId, lineNumber, columnNumber } = params.callFrames[0].location;
    const sourceMap = Buffer.from(sourceMaps.get(scriptId)?.split(',')[1] ?? '', 'base64').toString();
    const source = new SourceMap(JSON.parse(sourceMap)).findEntry(lineNumber, columnNumber);
    if ('originalLine' in source) stops.push(read(FUNCTION).split('\n')[source.originalLine] ?? '');
  });
  await new Promise((resolve) => debugging.addEventListener('open', resolve));
  const send = (method: string) => debugging.send(JSON.stringify({ id: 1, method }));
  send('Debugger.enable');
  for (const name of ['1', '2', '3']) {
    await expectReload(() => write(FUNCTION, codeWith(name).replace('return success', `debugger; // ${name}\n    $&`)));
    const response = create();
    await expect.poll(() => stops.at(-1), POLL).toBe(`    debugger; // ${name}`);
    send('Debugger.resume');
    expect(await response).toEqual({ name });
  }
  debugging.close();
});
