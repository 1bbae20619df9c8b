import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from '../local/synthesize.ts';
import { copyProject } from './support/project-copy.ts';

const directory = join(projectRoot, '.github/workflows');
const workflows = readdirSync(directory);
const text = (name: string) => readFileSync(join(directory, name), 'utf8');
const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};

test.each(workflows)('%s pins each action by its digest, and names its version', (name) => {
  const actions = [...text(name).matchAll(/uses: (?!\.\/)(.+)/g)].map(([, action]) => action);
  expect(actions.length).toBeGreaterThan(0);
  for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

test.each(workflows)('%s has no more rights than it uses, and runs only scripts that there are', (name) => {
  expect(parse(text(name))).toMatchObject({ permissions: { contents: 'read' } });
  expect(text(name)).not.toMatch(/aws-access-key/i);
  const secrets = [...text(name).matchAll(/secrets\.(\w+)/g)].map(([, secret]) => secret);
  expect(secrets).toEqual(name === 'smoke.yml' ? ['SMOKE_TOKEN'] : []);
  for (const [, script] of text(name).matchAll(/npm run (?:--silent )?([\w:-]+)/g))
    expect(scripts).toHaveProperty([String(script)]);
});

test('a pull request’s diff needs no role that could change or read more than the template', () => {
  expect(text('deploy.yml')).toMatch(/cdk diff --method=template /);
});

test('the hourly smoke runs by schedule and by hand, one at a time, and not before it has an address', () => {
  expect(parse(text('smoke.yml'))).toMatchObject({
    on: { schedule: [{ cron: expect.stringMatching(/^[1-9]\d? \* \* \* \*$/) }], workflow_dispatch: null },
    concurrency: 'smoke',
    jobs: { smoke: { if: "vars.SMOKE_URL != ''", 'timeout-minutes': expect.any(Number) } },
  });
});

test('the smoke runs where no package is installed, as the hourly one does', async () => {
  const copy = copyProject();
  await rm(join(copy.directory, 'node_modules'));
  const { code, stderr } = await copy.run(`${process.execPath} operate/smoke.ts http://127.0.0.1:1 --token any`);
  copy.remove();
  expect(stderr).toMatch(/^http:\/\/127\.0\.0\.1:1 does not answer/);
  expect(code).toBe(1);
});
