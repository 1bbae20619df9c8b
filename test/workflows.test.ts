import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from '../infra/project-root.ts';
import { copyProject } from './support/project-copy.ts';

const directory = join(projectRoot, '.github/workflows');
const text = (name: string) => readFileSync(join(directory, name), 'utf8');

test.each(readdirSync(directory))('%s pins each action, and can only read the repository by default', (name) => {
  const actions = [...text(name).matchAll(/uses: (?!\.\/)(.+)/g)].map(([, action]) => action);
  expect(actions.length).toBeGreaterThan(0);
  for (const action of actions) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  expect(parse(text(name)).permissions).toEqual({ contents: 'read' });
});

test.each(['deploy.yml', 'release.yml'])('the jobs of %s run no install scripts of packages', (name) => {
  expect(new Set(text(name).match(/npm (ci|install|i)\b.*/g))).toEqual(new Set(['npm ci --ignore-scripts']));
});

test('with a URL, the smoke test runs without installed packages, as in smoke.yml', async () => {
  const copy = copyProject();
  rmSync(join(copy.directory, 'node_modules'));
  const variables = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, PLANT_STORE_TOKEN: 'any' };
  const { code, stdout, stderr } = await copy.run('npm run --silent smoke -- http://127.0.0.1:1', variables);
  expect(stdout).toContain('\nFAIL  creates a plant: there was no response ');
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
});
