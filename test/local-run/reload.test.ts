import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { bodyOf, plantWith, TEXT_MEMBER } from '../support/event.ts';
import { copyProject } from '../support/project-copy.ts';
import { post, send } from '../support/service.ts';

/* Changes files of a copy of the project while npm start runs, as a developer does. */

const project = closedAtEnd(copyProject());
const path = (name: string) => join(project.directory, name);
const file = path('functions/create-plant/create-plant.ts');
const newFile = path('functions/create-plant/new.ts');
const write = (text: string) => writeFileSync(file, text);

const code = readFileSync(file, 'utf8');
/** Code that runs statements and responds with a text, without the database, which can fail on a slow machine. */
const codeWith = (text: string, statements = '') => `export const createPlant = () => async () => {
  ${statements}
  const body = ${JSON.stringify(JSON.stringify(plantWith(text)))};
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body };
};`;

const contract = readFileSync(path('openapi.yaml'), 'utf8');
const writeContract = (text: string) => writeFileSync(path('openapi.yaml'), text);
/** The contract with another member at the end of the properties of Plant. */
function withMember(name: string, schema: object): string {
  const document = parseDocument(contract);
  document.setIn(['components', 'schemas', 'Plant', 'properties', name], schema);
  return document.toString();
}

// If next.yaml exists, it is saved as the contract while the one before is generated.
const saveNext = "if (existsSync('next.yaml')) process.getBuiltinModule('fs').renameSync('next.yaml', 'openapi.yaml');";
const generator = readFileSync(path('tools/generate.ts'), 'utf8');
writeFileSync(path('tools/generate.ts'), generator.replace(/^ +const changed = /m, `${saveNext}\n$&`));

writeContract(withMember('early', { type: 'integer', format: 'int32' }));
const localRun = await project.start();
/** Creates a plant with a new id. Returns the response's body. */
const create = () => post(localRun.url, bodyOf(Date.now(), plantWith('x')));
const expectText = (text: string) => expect.poll(create).toEqual(plantWith(text));

// Otherwise each test would wait for this response until its time is up.
expect(await create()).toEqual(plantWith('x'));
afterEach(async () => {
  rmSync(newFile, { force: true });
  write(code);
  await expectText('x');
});

test('responds to each request during five reloads, and never with old code after new code', async () => {
  const responses: Record<string, unknown>[] = [];
  let isDone = false;
  const client = async () => {
    while (!isDone) responses.push(await create());
  };
  const clients = [client(), client(), client()];
  for (const text of ['1', '2', '3', '4', '5']) {
    write(codeWith(text));
    await expect.poll(() => responses.at(-1)).toEqual(plantWith(text));
  }
  isDone = true;
  await Promise.all(clients);
  const texts = new Set(['x', ...responses.map(({ [TEXT_MEMBER]: text }) => text)]);
  expect([...texts]).toEqual(['x', '1', '2', '3', '4', '5']);
});

test('serves a file that cp -p replaces, so that only the time of the replacement is new', async () => {
  for (const text of ['1', '2']) {
    write(codeWith(text));
    utimesSync(file, 1, 1);
    await expectText(text);
  }
});

test('follows the contract, which was changed before the start, and says what is wrong with it', async () => {
  const plant = { ...plantWith(), early: 7, late: true };
  const respond = async () => JSON.parse((await send(localRun.url, bodyOf(Date.now(), plant))).body);
  expect(await respond()).toEqual({ ...plantWith(), early: 7 });
  writeContract(withMember('late', { type: 'boolean' }));
  await expect.poll(respond).toEqual({ ...plantWith(), late: true });
  writeContract(withMember('late', { type: 'boolean', nullable: true }));
  const message = expect.stringMatching(/^The member late had the keyword "nullable"; .*CONTRIBUTING\.md\.$/);
  await expect.poll(respond).toEqual({ error: 500, message });
  for (const page of ['/docs', '/docs/openapi.yaml'])
    expect(await (await fetch(new URL(page, localRun.url))).json()).toEqual({ error: 500, message });
  writeFileSync(path('next.yaml'), contract);
  writeContract(withMember('late', { type: 'boolean', title: 'Late' }));
  await expect.poll(respond).toEqual(plantWith());
});

test.each([
  ['has a syntax error', `${code}const x = ;\n`, /create-plant\.ts:\d+:\d+(.*\n)+.*const x = ;/, file, code],
  ['imports a missing file', `import './new.ts';\n${code}`, /^(.*\n)?.*\.\/new\.ts/, newFile, ''],
  ['throws', `${code}throw new Error('thrown');\n`, /^Error: thrown\n +at .*create-plant\.ts:\d+:7\b/, file, code],
])('says why a function that %s cannot be loaded, and recovers', async (_, text, reason, corrected, correction) => {
  write(text);
  const message = expect.stringMatching(reason);
  await expect.poll(create).toEqual({ error: 500, message });
  const response = await create();
  await expect.poll(localRun.output).toContain(`\n${response['message']}\n`);
  expect(response['message']).not.toMatch(/node:|node_modules\/vite\//);
  writeFileSync(corrected, correction);
  await expectText('x');
});

test('prints an error that the function throws after its response, escapes its control characters, and still responds', async () => {
  const late = "setTimeout(() => { throw new Error('late\\u001b'); }); void Promise.reject(new Error('not awaited'));";
  write(codeWith('late', late));
  await expectText('late');
  await expect.poll(localRun.output).toContain('Error: not awaited\n    at ');
  await expect.poll(localRun.output).toContain('Error: late\\u001b\n    at ');
  await expectText('late');
});
