import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from '../local/synthesize.ts';
import { copyProject } from './support/project-copy.ts';

/* Code that runs with permissions or secrets: the workflows, and the install scripts of packages. */

const directory = join(projectRoot, '.github/workflows');
const text = (name: string) => readFileSync(join(directory, name), 'utf8');

test.each(readdirSync(directory))(
  '%s pins each action, and has only the permissions and secrets that it uses',
  (name) => {
    const actions = [...text(name).matchAll(/uses: (?!\.\/)(.+)/g)].map(([, action]) => action);
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    expect(parse(text(name))).toMatchObject({ permissions: { contents: 'read' } });
    expect(text(name)).not.toMatch(/aws-access-key/i);
    const secrets = [...text(name).matchAll(/secrets\.(\w+)/g)].map(([, secret]) => secret);
    expect(secrets).toEqual(name === 'smoke.yml' ? ['SMOKE_TOKEN'] : []);
  },
);

const releaseSteps: { name?: string; run?: string }[] = parse(text('release.yml')).jobs.release.steps;
const headCheck = releaseSteps.find(({ name }) => name === 'Check that this commit is the head of main');

test.each([
  ['deploys the head of main', 'echo new', 'new', 0],
  ['does not deploy another commit', 'echo new', 'old', 1],
  ['does not deploy if GitHub does not say which commit is the head', 'false', '', 1],
])('a release %s', (_title, gh, GITHUB_SHA, status) => {
  const script = `gh() { ${gh}; }\n${headCheck?.run}`;
  const env = { ...process.env, GITHUB_SHA, GITHUB_REPOSITORY: 'owner/repository' };
  expect(spawnSync('bash', ['-eo', 'pipefail', '-c', script], { env }).status).toBe(status);
});

test('the release job runs no install scripts, other jobs only those that package.json allows', () => {
  expect(text('release.yml').match(/npm (ci|install|i)\b.*/g)).toEqual(['npm ci --ignore-scripts']);
  const [{ packages }, { allowScripts, scarfSettings }] = ['package-lock.json', 'package.json'].map((name) =>
    JSON.parse(readFileSync(join(projectRoot, name), 'utf8')),
  );
  const scripted = Object.keys(packages).filter((path) => packages[path].hasInstallScript);
  const names = scripted.map((path) => path.replace(/.*node_modules\//, ''));
  expect(Object.keys(allowScripts)).toEqual(expect.arrayContaining(names));
  // Its script reports each installation to a server. npm 11 skips the script; for older versions the setting disables it.
  expect([allowScripts['@scarf/scarf'], scarfSettings.enabled]).toEqual([false, false]);
});

test('the smoke test runs without installed packages, as in smoke.yml', async () => {
  const copy = copyProject();
  rmSync(join(copy.directory, 'node_modules'));
  const { code, stderr } = await copy.run(`${process.execPath} cli/smoke.ts http://127.0.0.1:1 --token any`);
  expect(stderr).toMatch(/^http:\/\/127\.0\.0\.1:1 does not respond/);
  expect(code).toBe(1);
});
