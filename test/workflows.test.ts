import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const directory = join(import.meta.dirname, '../.github/workflows');
const text = (name: string) => readFileSync(join(directory, name), 'utf8');

test.each(readdirSync(directory))('%s pins each action, and can only read the repository by default', (name) => {
  const actions = [...text(name).matchAll(/uses: (?!\.\/)(.+)/g)].map(([, action]) => action);
  expect(actions.length).toBeGreaterThan(0);
  for (const action of actions) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  expect(parse(text(name)).permissions).toEqual({ contents: 'read' });
});

test('the jobs that deploy run no install scripts of packages', () => {
  const installs = text('deploy.yml').match(/(?<=- run: )npm (ci|install|i)\b.*/g);
  expect(installs).toEqual(['npm ci --ignore-scripts']);
});
