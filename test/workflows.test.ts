import { spawnSync } from 'node:child_process';
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

test('a pull request’s diff asks AWS for this stack’s template and for nothing else', () => {
  const { diff } = parse(text('deploy.yml')).jobs;
  const commands: string[] = diff.steps.flatMap(
    ({ run = '' }: { run?: string }) => run.match(/(aws|npx cdk) .+/g) ?? [],
  );
  expect(commands).toEqual([
    expect.stringMatching(/^aws cloudformation get-template --stack-name PlantStore .* > deployed.json$/),
    // With a template to compare with, it needs no credentials.
    expect.stringMatching(/^npx cdk diff --template deployed.json PlantStore /),
  ]);
});

test('a pull request says whether callers of the contract that it is to be merged into may break', () => {
  const { contract } = parse(text('ci.yml')).jobs;
  expect(contract.if).toBe("github.event_name == 'pull_request'");
  // The commit that GitHub merges for trial, and the one before it on the branch that it goes to.
  expect(contract.steps[0].with['fetch-depth']).toBe(2);
  const [step] = contract.steps.filter(({ run }: { run?: string }) => run?.includes('breaking-changes'));
  // With a shell that is named, a pipe fails where any part of it does.
  expect(step).toMatchObject({
    shell: 'bash',
    run: expect.stringContaining('breaking-changes -- --since HEAD~1 2>&1 |'),
  });
});

test('main is checked, synthesized once, released to staging where there is one, then to production', () => {
  const { jobs } = parse(text('deploy.yml'));
  const release = { uses: './.github/workflows/release.yml' };
  expect(jobs.synthesize).toMatchObject({ needs: 'check' });
  expect(jobs.staging).toMatchObject({ ...release, needs: 'synthesize', if: "vars.AWS_STAGING_DEPLOY_ROLE != ''" });
  expect(jobs.production).toMatchObject({ ...release, needs: ['synthesize', 'staging'] });
  for (const condition of ["needs.synthesize.result == 'success'", "needs.staging.result == 'success' ||"])
    expect(jobs.production.if).toContain(condition);
  // Both deploy what was synthesized, into the folder that is theirs, and stop where a setting is open.
  const synthesized = text('deploy.yml').match(/cdk synth .+/g);
  for (const { environment, stack } of [jobs.staging.with, jobs.production.with]) {
    const stage = stack === 'PlantStore' ? '' : ` -c stage=${stack.replace('PlantStore-', '')}`;
    expect(synthesized).toContain(`cdk synth --quiet --strict${stage} --output assemblies/${environment}`);
  }
  expect(text('release.yml')).toMatch(/ASSEMBLY: assemblies\/\$\{\{ inputs.environment \}\}/);
  expect(text('release.yml')).toMatch(/cdk deploy --app "\$ASSEMBLY" "\$STACK" /);
});

const { release } = parse(text('release.yml')).jobs;
const releaseSteps: { name?: string; uses?: string; run: string; with?: object }[] = release.steps;
const credentialsAt = releaseSteps.findIndex(({ uses }) => uses?.startsWith('aws-actions/'));
const headAt = releaseSteps.findIndex(({ name }) => name === 'only the head of main');

test.each([
  ['deploys the head of main', 'echo new', 'new', 0],
  ['does not deploy another commit', 'echo new', 'old', 1],
  ['does not deploy if GitHub does not say which commit is the head', 'false', '', 1],
])('a release %s', (_title, gh, GITHUB_SHA, status) => {
  const script = `gh() { ${gh}; }\n${releaseSteps[headAt]?.run}`;
  const env = { ...process.env, GITHUB_SHA, GITHUB_REPOSITORY: 'owner/repository' };
  expect(spawnSync('bash', ['-eo', 'pipefail', '-c', script], { env }).status).toBe(status);
});

test('a release checks its commit when no other release runs, and before it has AWS credentials', () => {
  expect(release.concurrency).toMatch(/^deploy-/);
  expect(credentialsAt).toBeGreaterThan(headAt);
});

test('a release, with its AWS credentials, outlasts the hour for which CodeDeploy waits for a hook', () => {
  expect(release['timeout-minutes']).toBe(120);
  expect(releaseSteps[credentialsAt]?.with).toMatchObject({ 'role-duration-seconds': 120 * 60 });
});

test('the job that may deploy runs no install script', () => {
  expect(text('release.yml').match(/npm (ci|install|i)\b.*/g)).toEqual(['npm ci --ignore-scripts']);
});

test('a pull request is told of vulnerable packages, which do not hold back a fix on main', () => {
  expect(parse(text('ci.yml')).jobs.check.steps).toContainEqual({
    if: "github.event_name == 'pull_request'",
    run: 'npm audit --omit=dev --audit-level=high',
  });
});

test('the hourly smoke runs by schedule and by hand, one at a time, and not before it has an address', () => {
  expect(parse(text('smoke.yml'))).toMatchObject({
    on: { schedule: [{ cron: expect.stringMatching(/^[1-9]\d? \* \* \* \*$/) }], workflow_dispatch: null },
    concurrency: 'smoke',
    // Its secret is the environment's, which is limited to main.
    jobs: { smoke: { if: "vars.SMOKE_URL != ''", 'timeout-minutes': expect.any(Number), environment: 'smoke' } },
  });
});

test('the smoke runs where no package is installed, as the hourly one does', async () => {
  const copy = copyProject();
  await rm(join(copy.directory, 'node_modules'));
  const { code, stderr } = await copy.run(`${process.execPath} cli/smoke.ts http://127.0.0.1:1 --token any`);
  copy.remove();
  expect(stderr).toMatch(/^http:\/\/127\.0\.0\.1:1 does not respond/);
  expect(code).toBe(1);
});
