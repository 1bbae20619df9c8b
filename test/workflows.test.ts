import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from '../tools/local/synthesize.ts';
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

test('the diff of a pull request reads only this stack’s template from AWS', () => {
  const { diff } = parse(text('deploy.yml')).jobs;
  const commands: string[] = diff.steps.flatMap(
    ({ run = '' }: { run?: string }) => run.match(/(aws|npx cdk) .+/g) ?? [],
  );
  expect(commands).toEqual([
    expect.stringMatching(/^aws cloudformation get-template --stack-name PlantStore .* > deployed.json$/),
    // With --template it needs no credentials.
    expect.stringMatching(/^npx cdk diff --template deployed.json PlantStore /),
  ]);
});

test('checks and synthesizes main once, and deploys production only if staging did not fail', () => {
  const { jobs } = parse(text('deploy.yml'));
  expect(jobs.synthesize.needs).toBe('check');
  expect(jobs.staging.needs).toBe('synthesize');
  expect(jobs.production.needs).toEqual(['synthesize', 'staging']);
  expect(jobs.production.if).toContain("needs.synthesize.result == 'success'");
  expect(jobs.production.if).toContain("(needs.staging.result == 'success' || needs.staging.result == 'skipped')");
  for (const { environment, stack } of [jobs.staging.with, jobs.production.with]) {
    const stage = stack === 'PlantStore' ? '' : ` -c stage=${stack.replace('PlantStore-', '')}`;
    expect(text('deploy.yml')).toContain(`cdk synth --quiet --strict${stage} --output assemblies/${environment}\n`);
  }
});

const { release } = parse(text('release.yml')).jobs;
const releaseSteps: { name?: string; uses?: string; run: string; with?: object }[] = release.steps;
const credentialsAt = releaseSteps.findIndex(({ uses }) => uses?.startsWith('aws-actions/'));
const headAt = releaseSteps.findIndex(({ name }) => name === 'Check that this commit is the head of main');

test.each([
  ['deploys the head of main', 'echo new', 'new', 0],
  ['does not deploy another commit', 'echo new', 'old', 1],
  ['does not deploy if GitHub does not say which commit is the head', 'false', '', 1],
])('a release %s', (_title, gh, GITHUB_SHA, status) => {
  const script = `gh() { ${gh}; }\n${releaseSteps[headAt]?.run}`;
  const env = { ...process.env, GITHUB_SHA, GITHUB_REPOSITORY: 'owner/repository' };
  expect(spawnSync('bash', ['-eo', 'pipefail', '-c', script], { env }).status).toBe(status);
});

test('runs one release at a time, with AWS credentials that last longer than the hour that CodeDeploy waits for a hook', () => {
  expect(release.concurrency).toMatch(/^deploy-/);
  expect(credentialsAt).toBeGreaterThan(headAt);
  expect(release['timeout-minutes']).toBe(120);
  expect(releaseSteps[credentialsAt]?.with).toMatchObject({ 'role-duration-seconds': 120 * 60 });
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
  const { code, stderr } = await copy.run(`${process.execPath} tools/smoke.ts http://127.0.0.1:1 --token any`);
  expect(stderr).toMatch(/^http:\/\/127\.0\.0\.1:1 does not respond/);
  expect(code).toBe(1);
});
