import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { copyProject } from '../support/project-copy.ts';

/** The tests that depend most on names, except those of the operation. */
const TESTS =
  'functions/pre-traffic-hook infra/stack tools/generate tools/restore tools/token test/client test/contract test/documents test/events';

/** A copy of the project, and a function that runs a command in it and fails if the command fails. */
function startCopy() {
  const project = copyProject();
  onTestFinished(project.close);
  const runToEnd = async (command: string | string[]) => {
    const { code, stdout, stderr } = await project.run(command);
    expect(code, `${command}\n${stdout}${stderr}`).toBe(0);
    return stdout;
  };
  const commit = async () => {
    await runToEnd('git add --all');
    await runToEnd('git -c user.name=test -c user.email=test@example.com commit --quiet --message start');
  };
  return {
    ...project,
    runToEnd,
    commit,
    rename: (...args: string[]) => project.run(['npm', 'run', 'rename', '--', ...args]),
  };
}

type Copy = ReturnType<typeof startCopy>;

/** Runs the checks and the tests that depend most on names. */
async function expectToPass({ runToEnd }: Copy, resource: string): Promise<void> {
  await runToEnd('npx tsc');
  await runToEnd('npx biome ci');
  await runToEnd(`npx vitest run functions/create-${resource} ${TESTS}`);
}

/** Fails if a file has a name or a sample value of the template, except in the folder's name. */
async function expectNoPlants(project: Copy): Promise<void> {
  const words = 'plant|monstera|sequoia|climber|\\baloe|\\bfern|\\bmoss|garden';
  const folders = ['node_modules', '.git'].map((folder) => `--exclude-dir=${folder}`);
  // grep has status 1 if it finds nothing.
  expect(await project.run(['grep', '-rliE', words, '.', ...folders])).toMatchObject({ code: 1, stdout: '' });
  const found = async (condition: string) =>
    project.runToEnd(`find . ${condition} -not -path */node_modules/* -not -path ./.git/*`);
  expect(await found('-name *plant*')).toBe('');
  expect(await found('-type d -empty')).toBe('');
}

test('npm run rename makes a service with other names in a folder without git', async () => {
  const project = startCopy();
  expect((await project.rename('--service', 'bakery', '--resource', 'order')).stdout).toContain('has no .git');
  await expectNoPlants(project);
  const readme = readFileSync(join(project.directory, 'README.md'), 'utf8');
  expect(readme).toMatch(/^# Bakery\n\nBakery stores orders: /);
  expect(readme).not.toMatch(/template|<!--/);
  expect(readme).toContain('{"id":1,"name":"Sample order","tag":"sample"}');
  await expectToPass(project, 'order');
}, 900_000);

test('npm run rename accepts a name in words and an irregular plural', async () => {
  const project = startCopy();
  const args = ['--service', 'Category Store', '--resource', 'Category', '--plural', 'categories'];
  await project.runToEnd('git init --quiet');
  expect(await project.rename(...args)).toMatchObject({ code: 1, stderr: expect.stringContaining('uncommitted') });
  await project.commit();
  expect(await project.rename(...args)).toMatchObject({ code: 0 });
  await expectNoPlants(project);
  expect(readFileSync(join(project.directory, 'openapi.yaml'), 'utf8')).toContain('title: Category Store');
  expect(existsSync(join(project.directory, 'functions/create-category/create-category.ts'))).toBe(true);
  await expectToPass(project, 'category');
}, 900_000);

test.each([
  ['Desk!', 'order', 'orders', '--service was "desk!"; it must be'],
  ['x'.repeat(31), 'order', 'orders', 'at most 30 characters'],
  ['order desk', 'purchase order', 'orders', '--resource was "purchase order"; it must be one noun'],
  ['order desk', 'order', 'order', '--plural was "order"; it must differ from --resource.'],
  ['order desk', 'Event', 'events', '--resource was "Event", which cannot work: '],
  ['order desk', 'class', 'classes', '--resource was "class", which cannot work: '],
  ['order desk', 'order', 'tokens', '--plural was "tokens", which cannot work: '],
  ['order desk', 'issuer', 'issuers', 'test/support/plant.ts would overwrite test/support/issuer.ts'],
  ['Usage', 'order', 'orders', '--service was "Usage", which cannot work: '],
])('npm run rename refuses the names “%s”, “%s” and “%s”', async (service, resource, plural, message) => {
  const project = startCopy();
  await project.runToEnd('git init --quiet');
  await project.commit();
  const { code, stderr } = await project.rename('--service', service, '--resource', resource, '--plural', plural);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) });
  expect(await project.runToEnd('git status --porcelain')).toBe('');
});
