import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inContract } from '../test/support/contract.ts';
import { copyProject, type ProjectCopy } from '../test/support/project-copy.ts';

let project: ProjectCopy;
beforeAll(() => {
  project = copyProject();
});
afterAll(() => project.remove());

const invoke = (file: string) => project.run(`npm run --silent invoke -- ${file}`.trim());

test.each([
  ['events/none.json', undefined, 'The event events/none.json cannot be read: ENOENT'],
  ['README.md', undefined, 'The event README.md cannot be read: Unexpected token'],
  ['own.json', '{"httpMethod":"POST"}', 'The event own.json must be a REST proxy event, with httpMethod and resource.'],
  ['own.json', 'null', 'The event own.json must be a REST proxy event, with httpMethod and resource.'],
  ['', undefined, 'EVENT is missing.'],
])('ends with a sentence for the file "%s" with %s', async (file, json, sentence) => {
  if (json !== undefined) writeFileSync(join(project.directory, file), json);
  const { code, stdout, stderr } = await invoke(file);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(sentence);
  expect(stderr).not.toMatch(/^\s+at /m);
});

test('invokes an event without a server, with exit status 0 only for a 200', async () => {
  const [created, rejected] = await Promise.all(
    ['create-plant-without-tag', 'error-409-id-in-use'].map((name) => invoke(`events/${name}.json`)),
  );
  expect(created?.code).toBe(0);
  expect(inContract(JSON.parse(created?.stdout ?? ''))).toEqual({ name: 'Ficus lyrata' });
  expect(created?.stderr).toMatch(/^\{"timestamp":".+","level":"INFO",/);
  expect(rejected?.code).toBe(1);
  expect(inContract(JSON.parse(rejected?.stdout ?? ''))).toMatchObject({ error: 409 });
});
