import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

type Values = Record<string, unknown>;
interface Step {
  id?: string;
  if?: string;
  uses?: string;
  run?: string;
  env?: Record<string, string>;
  with?: Values;
}
interface Job {
  if?: string;
  needs?: string | string[];
  uses?: string;
  environment?: string;
  permissions?: Values;
  env?: Record<string, string>;
  steps?: Step[];
}
interface Workflow {
  on: Values;
  permissions: Values;
  concurrency?: string;
  env?: Record<string, string>;
  jobs: Record<string, Job>;
}

const files = readdirSync('.github/workflows');
const read = (file: string): Workflow => parse(readFileSync(`.github/workflows/${file}`, 'utf8'));
const [ci, deploy, smoke] = [read('ci.yml'), read('deploy.yml'), read('smoke.yml')];
const stepsOf = (workflow: Workflow, job: string) => workflow.jobs[job]?.steps ?? [];

/** Evaluates an expression with GitHub's own evaluator, which throws if a context is not available. */
function evaluate(expression: string, contexts: Values): string {
  const tree = new Parser(new Lexer(expression).lex().tokens, Object.keys(contexts), []).parse();
  return new Evaluator(tree, JSON.parse(JSON.stringify(contexts), data.reviver)).evaluate().coerceString();
}

const folder = mkdtempSync(join(tmpdir(), 'programs-'));
const programs = ['apt-get', 'aws', 'biome', 'gh', 'id', 'node', 'npm', 'npx', 'sleep', 'sudo', 'tsc', 'vitest'];
for (const program of programs) symlinkSync(resolve('test/support/fake-program.sh'), join(folder, program));
for (const program of ['dirname', 'grep']) symlinkSync(`/usr/bin/${program}`, join(folder, program));
const CALLS = join(folder, 'calls');
const GITHUB_OUTPUT = join(folder, 'output');
const calls = () => readFileSync(CALLS, 'utf8').split('\n').slice(0, -1);

/** Runs a script with a fake in place of each program. The call `FAILS` fails. */
function runBash(args: string[], variables: NodeJS.ProcessEnv) {
  for (const file of [CALLS, GITHUB_OUTPUT]) writeFileSync(file, '');
  const env = { PATH: folder, CALLS, GITHUB_OUTPUT, GITHUB_REPOSITORY: 'OWNER/NAME', ...variables };
  const { status, stdout } = spawnSync('/bin/bash', ['--norc', ...args], { env, encoding: 'utf8', timeout: 20_000 });
  return { failed: status !== 0, stdout, calls: calls() };
}

/** Runs the only step of a job whose script contains `command`, as GitHub does on Linux. */
function runStep(workflow: Workflow, job: string, command: string, variables: NodeJS.ProcessEnv = {}) {
  const [step, ...others] = stepsOf(workflow, job).filter(({ run = '' }) => run.includes(command));
  expect(others, `other steps with ${command}`).toEqual([]);
  const outputs = { canary: 'canary-token', final: 'final-token' };
  const contexts = {
    github: { token: 'github-token', run_id: 7, run_attempt: 1 },
    secrets: { SMOKE: variables['SMOKE'] },
    steps: { tokens: { outputs } },
    vars: { AWS_DEPLOY_ROLE: 'ROLE' },
  };
  const own = Object.entries({ ...workflow.env, ...workflow.jobs[job]?.env, ...step?.env });
  const env = own.map(([name, value]) => [
    name,
    String(value).replaceAll(/\${{(.*?)}}/g, (_, expression) => evaluate(expression, contexts)),
  ]);
  return runBash(['-e', '-c', step?.run ?? ''], { ...variables, ...Object.fromEntries(env) });
}

test.each([
  ['with both roles', { AWS_STAGING_DEPLOY_ROLE: 'ROLE', AWS_DEPLOY_ROLE: 'ROLE' }, ['staging', 'production']],
  ['without the role of staging', { AWS_DEPLOY_ROLE: 'ROLE' }, ['production']],
  ['without the role of production', { AWS_STAGING_DEPLOY_ROLE: 'ROLE' }, ['staging']],
  ['without roles', {}, []],
])('%s, a push to main runs the tests, and then releases', (_, vars, released) => {
  const { check, staging, production } = deploy.jobs;
  expect([check?.uses, staging?.needs, production?.needs]).toEqual([
    './.github/workflows/ci.yml',
    'check',
    ['check', 'staging'],
  ]);
  /** Decides for a job that no other `if` calls off ("Evaluate expressions in workflows and actions", GitHub Docs). */
  const runs = (job: Job | undefined, check: string, staging: string, cancelled = false) => {
    const needs = { check: { result: check }, staging: { result: staging } };
    return evaluate(String(job?.if).replace('cancelled()', String(cancelled)), { vars, needs }) === 'true';
  };
  const stagingRuns = runs(staging, 'success', '');
  const productionRuns = (...results: [check: string, staging: string, cancelled?: boolean]) =>
    runs(production, ...results);
  const afterStaging = productionRuns('success', stagingRuns ? 'success' : 'skipped');
  expect([...(stagingRuns ? ['staging'] : []), ...(afterStaging ? ['production'] : [])]).toEqual(released);
  expect(productionRuns('success', 'failure'), 'after staging failed').toBe(false);
  expect(productionRuns('failure', 'skipped'), 'after the tests failed').toBe(false);
  expect(productionRuns('success', 'success', true), 'in a cancelled run').toBe(false);
  // Without a status function such as cancelled(), a job runs only if the jobs that it needs succeeded.
  expect([check?.if, staging?.if?.match(/\w+\(\)/)]).toEqual([undefined, null]);
});

/** What a step uses, or which of these commands it runs, and its condition. */
function order(steps: Step[]): string[] {
  const commands = /gh api|npm ci.*|npm audit|\.ci\/run|npx cdk deploy|token -- \w+|silent smoke|::error|STEP_SUMMARY/g;
  return steps.map(({ uses, run = '', if: condition }) => {
    const done = uses ? uses.replace(/@.*/, '') : [...new Set(run.match(commands))].join(', ');
    return condition === undefined ? done : `${done} if ${condition}`;
  });
}

test('a release creates its tokens, deploys, runs the smoke test with another token, and revokes both', () => {
  for (const job of ['staging', 'production']) {
    expect(order(stepsOf(deploy, job)), job).toEqual([
      'gh api, ::error',
      'actions/checkout',
      'actions/setup-node',
      'npm ci --ignore-scripts',
      'aws-actions/configure-aws-credentials',
      'token -- create',
      'silent smoke, npx cdk deploy',
      'silent smoke',
      "token -- revoke if always() && steps.tokens.outcome == 'success'",
      "::error if failure() && steps.smoke.outcome == 'failure'",
    ]);
  }
});

test('a pull request is tested and audited, and its contract is compared without an upload', () => {
  const isPullRequest = "github.event_name == 'pull_request'";
  const tested = ['actions/checkout', 'actions/setup-node', '.ci/run', `npm audit if ${isPullRequest}`];
  expect(order(stepsOf(ci, 'check'))).toEqual(tested);
  expect(order(stepsOf(ci, 'contract'))).toEqual(['actions/checkout', 'oasdiff/oasdiff-action/breaking']);
  expect([ci.jobs['check']?.if, ci.jobs['contract']?.if]).toEqual([undefined, isPullRequest]);
  const compared = { base: 'HEAD~1:openapi.yaml', revision: 'HEAD:openapi.yaml', 'fail-on': 'ERR' };
  expect(stepsOf(ci, 'contract').map((step) => step.with)).toEqual([
    { 'persist-credentials': false, 'fetch-depth': 2 },
    { ...compared, review: false, 'github-token': '' },
  ]);
});

test('the hourly smoke test installs no package, and says where to read about a failure', () => {
  expect(smoke.jobs['smoke']?.if).toBe("vars.HOURLY_SMOKE_TEST == 'on'");
  const steps = ['actions/checkout', 'actions/setup-node', '::error, silent smoke', 'STEP_SUMMARY if failure()'];
  expect(order(stepsOf(smoke, 'smoke'))).toEqual(steps);
});

test('only main starts a deployment, and a new run does not cancel a running one', () => {
  expect(deploy.on).toEqual({ push: { branches: ['main'] } });
  expect(ci.on).toEqual({ pull_request: null, workflow_call: null });
  const cron = expect.stringMatching(/^\d+ \* \* \* \*$/);
  expect(smoke.on).toEqual({ schedule: [{ cron }], workflow_dispatch: null });
  expect([ci, deploy, smoke].map(({ concurrency }) => concurrency)).toEqual([undefined, 'deploy', 'smoke']);
});

test.each(files)('jobs of %s have only permissions they need, pinned actions, and no text of others', (file) => {
  const { jobs, ...workflow } = read(file);
  for (const [id, { steps = [], ...job }] of Object.entries(jobs)) {
    const hasRole = steps.some((step) => step.with?.['role-to-assume'] !== undefined);
    if (hasRole) expect(file, `the only workflow with a role, such as that of ${id}`).toBe('deploy.yml');
    const readsSecret = /\bsecrets\b/.test(JSON.stringify([workflow.env, job, steps]));
    // In the job of another environment, the role could not be assumed, and the secret would be empty.
    expect(job.environment, id).toBe(hasRole ? job.env?.['STAGE'] : readsSecret ? 'smoke' : undefined);
    const used = { contents: 'read', ...(hasRole && { 'id-token': 'write' }) };
    expect(job.permissions ?? workflow.permissions, `the permissions of ${id}`).toEqual(used);
    for (const { uses, run, with: inputs, ...step } of steps) {
      expect(run ?? '', 'a script with text of others').not.toContain('${{');
      expect(step, 'a step whose failure is ignored').not.toHaveProperty('continue-on-error');
      // Another shell than bash with -e goes on after a failed command.
      expect(step).not.toHaveProperty('shell');
      if (uses) expect(uses).toMatch(/@[0-9a-f]{40}$/);
      if (uses?.startsWith('actions/checkout@')) expect(inputs).toMatchObject({ 'persist-credentials': false });
      const ids = steps.map((each) => each.id);
      const named = [...JSON.stringify(step).matchAll(/\bsteps\.(\w+)/g)].map(([, name]) => name);
      expect(ids, 'the ids of the steps').toEqual(expect.arrayContaining(named));
    }
  }
});

test('only the head of main is deployed', () => {
  const head = 'gh api repos/OWNER/NAME/git/ref/heads/main --jq .object.sha GH_TOKEN=github-token';
  expect(runStep(deploy, 'production', 'gh api', { GITHUB_SHA: 'from-gh' })).toMatchObject({
    failed: false,
    calls: [head],
  });
  const another = runStep(deploy, 'production', 'gh api', { GITHUB_SHA: 'another' });
  expect(another).toMatchObject({ failed: true, stdout: expect.stringContaining('::error::Not deployed: ') });
  expect(runStep(deploy, 'production', 'gh api', { GITHUB_SHA: 'from-gh', FAILS: head }).failed).toBe(true);
});

const ofStack = '--stack PlantStore';
test('a release has two tokens for an hour, which no log shows, and ends if it gets none', () => {
  const create = (use: string) => `npm run --silent token -- create --name release-7-1-${use} --expires 1h ${ofStack}`;
  const created = runStep(deploy, 'production', 'token -- create');
  expect(created).toMatchObject({ failed: false, calls: [create('canary'), create('final')] });
  expect(created.stdout).toBe('::add-mask::from-npm\n'.repeat(2));
  expect(readFileSync(GITHUB_OUTPUT, 'utf8')).toBe('canary=from-npm\nfinal=from-npm\n');
  for (const FAILS of created.calls)
    expect(runStep(deploy, 'production', 'token -- create', { FAILS }).failed).toBe(true);
  const revoked = ['canary', 'final'].map(
    (use) => `npm run --silent token -- revoke --name release-7-1-${use} ${ofStack}`,
  );
  expect(runStep(deploy, 'production', 'token -- revoke').calls).toEqual(revoked);
});

const API_URL = `aws cloudformation describe-stacks ${ofStack.replace('stack', 'stack-name')} --output text --query Stacks[0].Outputs[?OutputKey=='ApiUrl'].OutputValue`;
const DEPLOY = 'npx cdk deploy --strict --require-approval never -c stage=production';
const CANARY = 'npm run --silent smoke PLANT_STORE_TOKEN=canary-token PLANT_STORE_URL=from-aws';

test('the smoke test runs beside the deployment, which alone decides, and ends with it', async () => {
  const run = (variables: NodeJS.ProcessEnv) => runStep(deploy, 'production', 'cdk deploy', variables);
  for (const [failed, variables] of [
    [false, { RUNS: '3' }],
    [false, { RUNS: '3', FAILS: CANARY }],
    [true, { RUNS: '3', FAILS: DEPLOY }],
    // The deployment ends while a smoke test runs.
    [false, { RUNS: '1', SMOKE_TAKES: '0.3' }],
    [true, { RUNS: '1', SMOKE_TAKES: '0.3', FAILS: DEPLOY }],
  ] as const) {
    const ended = run(variables);
    const [first, ...others] = ended.calls;
    expect({ failed: ended.failed, first }).toEqual({ failed, first: API_URL });
    expect(new Set(others)).toEqual(new Set([DEPLOY, CANARY, ...(variables.RUNS === '3' ? ['sleep 30'] : [])]));
    await sleep(100);
    const after = calls();
    await sleep(300);
    expect(calls(), 'calls after the deployment').toEqual(after);
  }
  const failed = run({ FAILS: API_URL });
  expect(failed).toMatchObject({ failed: true, calls: [API_URL] });
});

test('a release fails if its smoke test fails', () => {
  const final = 'npm run --silent smoke PLANT_STORE_TOKEN=final-token PLANT_STORE_URL=from-aws PLANT_STORE_WAIT=1800';
  const run = (FAILS = '') => runStep(deploy, 'production', '\nnpm run --silent smoke', { FAILS });
  expect(run()).toMatchObject({ failed: false, calls: [API_URL, final] });
  for (const call of [API_URL, final]) expect(run(call).failed).toBe(true);
});

test('the hourly smoke test sends its token only to the URL that is stored with it', () => {
  // A variable of the repository cannot change the URL.
  const run = (SMOKE: string, FAILS = '') =>
    runStep(smoke, 'smoke', 'smoke', { SMOKE, FAILS, PLANT_STORE_URL: 'OTHER' });
  const call = 'npm run --silent smoke PLANT_STORE_TOKEN=smoke-token PLANT_STORE_URL=URL';
  const sent = run('URL\nsmoke-token');
  expect(sent).toEqual({ failed: false, stdout: '::add-mask::smoke-token\nfrom-npm\n', calls: [call] });
  expect(run('URL\nsmoke-token', call).failed).toBe(true);
  for (const secret of ['', 'URL']) {
    const ended = run(secret);
    expect(ended).toMatchObject({ failed: true, calls: [], stdout: expect.stringContaining('must have two lines') });
  }
});

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const INSTALLED = expect.stringMatching(/apt-get install .* curl default-jre-headless chromium$/);
test.each([
  [
    '. .ci/run',
    [INSTALLED, 'npm ci', 'npm test CI=true PROPERTY_RUNS=50 SHUFFLE=1', 'npm run test:slow CI=true SHUFFLE=1'],
  ],
  [scripts.test, ['tsc', 'vitest run']],
  [scripts.posttest, ['biome ci']],
  [scripts['test:slow'], ['tsc -p test/browser', 'vitest run --config test/slow.config.ts']],
])('the script "%s" fails if one of its commands fails', (script, last) => {
  const runScript = (FAILS = '') => runBash(['-c', script, '.ci/run'], { FAILS });
  const all = runScript().calls;
  expect(all.slice(-last.length)).toEqual(last);
  // Without `id`, the person is not root.
  const commands = all.filter((call) => call !== 'id -u');
  for (const command of commands) expect(runScript(command).failed, `failure of ${command}`).toBe(true);
});
