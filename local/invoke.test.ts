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

test.each([
  ['events/none.json', 'The event events/none.json does not exist.'],
  ['README.md', 'The event README.md must be a file of JSON'],
  ['package.json', 'The event package.json must be a REST proxy event, with httpMethod and resource.'],
  ['', 'EVENT is missing.'],
])('npm run invoke of the file "%s" ends with a sentence', async (file, sentence) => {
  const { code, stdout, stderr } = await project.run(`npm run --silent invoke -- ${file}`.trim());
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(sentence);
  expect(stderr).not.toMatch(/^\s+at /m);
});

test('what is JSON but no proxy event ends with a sentence', async () => {
  const others = ['null', '7', '"text"', '{"httpMethod":"POST"}', '{"resource":"/plants"}'];
  const ended = await Promise.all(
    others.map((json, index) => {
      writeFileSync(join(project.directory, `other-${index}.json`), json);
      return project.run(`npm run --silent invoke -- other-${index}.json`);
    }),
  );
  for (const { code, stderr } of ended) {
    expect(stderr).toMatch(/^The event other-\d\.json must be a REST proxy event, with httpMethod and resource\.$/m);
    expect(code).toBe(1);
  }
});

test('an event is invoked without a server, and the exit status tells 200 from the rest', async () => {
  const [created, refused] = await Promise.all(
    ['create-plant-without-tag', 'error-401-no-token'].map((name) =>
      project.run(`npm run --silent invoke -- events/${name}.json`),
    ),
  );
  expect(created?.code).toBe(0);
  expect(inContract(JSON.parse(created?.stdout ?? ''))).toEqual({ name: 'Ficus lyrata' });
  expect(created?.stderr).toMatch(/^\{"timestamp":".+","level":"INFO",/);
  expect(refused?.code).toBe(1);
  expect(inContract(JSON.parse(refused?.stdout ?? ''))).toMatchObject({ error: 401 });
});
