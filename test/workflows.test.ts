import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

/*
 * Runs the workflows and the scripts that they use with a fake in place of each program, and compares the events: each
 * call of a program, of a workflow, or of an action, each command for GitHub's log, such as `::error::`, each `summary`
 * of a step, and the result of a run without success.
 */

type Values = Record<string, unknown>;
type Texts = Partial<Record<'id' | 'if' | 'uses' | 'run' | 'environment' | 'concurrency', string>>;
type Maps = Partial<Record<'on' | 'permissions' | 'env' | 'with', Values>>;
/** A workflow, a job or a step. */
type Part = Texts & Maps & { needs?: string | string[]; jobs?: Record<string, Part>; steps?: Part[] };

const read = (file: string): Part => parse(readFileSync(`.github/workflows/${file}`, 'utf8'));
const workflows = Object.fromEntries(readdirSync('.github/workflows').map((file) => [file, read(file)]));

const folder = mkdtempSync(join(tmpdir(), 'programs-'));
const programs = ['apt-get', 'aws', 'bash', 'biome', 'gh', 'id', 'node', 'npm', 'npx', 'sudo', 'tsc', 'vitest'];
for (const program of programs) symlinkSync(resolve('test/support/fake-program.sh'), join(folder, program));
symlinkSync('/usr/bin/dirname', join(folder, 'dirname'));
const files = { GITHUB_OUTPUT: join(folder, 'output'), GITHUB_STEP_SUMMARY: join(folder, 'summary') };

function runBash(args: string[], variables: NodeJS.ProcessEnv) {
  const env = { PATH: folder, GITHUB_REPOSITORY: 'OWNER/NAME', ...files, ...variables };
  // Both streams in one file, in the order of the events.
  const log = openSync(join(folder, 'log'), 'w+');
  const { status } = spawnSync('/bin/bash', ['--norc', ...args], { env, stdio: ['ignore', log, log] });
  closeSync(log);
  const lines = readFileSync(join(folder, 'log'), 'utf8').split('\n');
  // The output of a fake program is not an event.
  return { failed: status !== 0, events: lines.filter((line) => line !== '' && !line.startsWith('from-')) };
}

/** Sorts the options before and after "--" of a call, and leaves the text of an error out. */
function normalize(event: string): string {
  if (event.startsWith('::error::')) return '::error::';
  const parts = event.split(' -- ').map((part) => part.split(/ (?=-)/));
  return parts.map(([program, ...options]) => [program, ...options.sort()].join(' ')).join(' -- ');
}

/** Compares events from the first difference on, so that the first line of a failure shows it. */
function expectEvents(events: string[], expected: string[], message?: string): void {
  const [actual, others] = [events.map(normalize), expected.map(normalize)];
  const start = [...others, undefined].findIndex((event, index) => event !== actual[index]);
  expect(actual.slice(start), message).toEqual(others.slice(start));
}

/** Evaluates an expression with GitHub's own evaluator, which throws if a context is not available. */
function evaluate(expression: string, contexts: Values): string {
  const tree = new Parser(new Lexer(expression).lex().tokens, Object.keys(contexts), []).parse();
  return new Evaluator(tree, JSON.parse(JSON.stringify(contexts), data.reviver)).evaluate().coerceString();
}

function interpolate(values: Values = {}, contexts: Values): Record<string, string> {
  const text = (value: unknown) => String(value).replaceAll(/\${{(.*?)}}/gs, (_, inner) => evaluate(inner, contexts));
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, text(value)]));
}

/** Runs a workflow. The event `fails` has the result `as`, and cancels the run unless this is `failure`. */
function run(file: string, vars: Values, { name = 'push', fails = '', as = 'failure', sha = 'from-gh' } = {}) {
  const { jobs = {}, env } = workflows[file] ?? {};
  const events: string[] = [];
  const results: Record<string, string[]> = {};
  let runCancelled = false;
  const shared = { github: { event_name: name, run_id: 7, run_attempt: 1, token: 'github-token' }, vars };

  /** Decides an `if` ("Evaluate expressions in workflows and actions", GitHub Docs, "Status check functions"). */
  function decide(condition: unknown, contexts: Values, previous: string[], cancelled: boolean): boolean {
    const success = !cancelled && previous.every((result) => result === 'success');
    const status: Values = { always: true, cancelled, success, failure: previous.includes('failure') };
    const expression = String(condition ?? true).replace(/^\${{(.*)}}$/s, '$1');
    const decided = expression.replaceAll(/(always|cancelled|success|failure)\(\)/g, (_, name) => String(status[name]));
    return (success || decided !== expression) && evaluate(`!!(${decided})`, contexts) === 'true';
  }

  /** Runs a script, an action or a workflow. Returns its result. */
  function perform({ run, uses, ...part }: Part, contexts: Values & Maps): string {
    const inputs = Object.entries(interpolate(part.with, contexts)).map(([name, value]) => `${name}=${value}`);
    const call = [uses?.split('@')[0], ...inputs.sort()].join(' ');
    const variables = { ...interpolate({ ...contexts.env, ...part.env }, contexts), GITHUB_SHA: sha, FAILS: fails };
    const done = run ? runBash(['-e', '-c', run], variables) : { failed: call === fails, events: [call] };
    events.push(...done.events);
    if (done.failed) runCancelled = as !== 'failure';
    return done.failed ? as : 'success';
  }

  function runSteps(job: Part): string {
    const done: string[] = [];
    const steps: Values = {};
    const contexts = { ...shared, env: interpolate({ ...env, ...job.env }, shared), steps };
    for (const step of job.steps ?? []) {
      for (const file of Object.values(files)) writeFileSync(file, '');
      const runs = decide(step.if, contexts, done, done.includes('cancelled'));
      const outcome = runs ? perform(step, { ...contexts, secrets: { SMOKE: 'URL\nsmoke-token' } }) : 'skipped';
      steps[step.id ?? ''] = { outcome, outputs: parseEnv(readFileSync(files.GITHUB_OUTPUT, 'utf8')) };
      if (readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8') !== '') events.push('summary');
      if (runs) done.push(outcome);
    }
    return done.find((result) => result !== 'success') ?? 'success';
  }

  /** Runs a job after those that it needs. Returns its result, and then theirs. */
  function runJob(id: string): string[] {
    const { needs = [], ...job } = jobs[id] ?? {};
    const needed = [needs].flat().map((need) => [need, results[need] ?? runJob(need)] as const);
    const previous = needed.flatMap(([, theirs]) => theirs);
    const contexts = { ...shared, needs: Object.fromEntries(needed.map(([need, [result]]) => [need, { result }])) };
    const start = () => (job.uses ? perform(job, {}) : runSteps(job));
    results[id] = [decide(job.if, contexts, previous, runCancelled) ? start() : 'skipped', ...previous];
    return results[id];
  }
  // Only `needs` says which job waits, so the last one runs first if it can.
  for (const id of Object.keys(jobs).reverse()) if (!results[id]) runJob(id);
  const all = Object.values(results).flat();
  return events.concat(all.find((result) => /failure|cancelled/.test(result)) ?? []);
}

const TESTS = './.github/workflows/ci.yml';
const CHECKOUT = 'actions/checkout persist-credentials=false';
const NODE = 'actions/setup-node node-version-file=.nvmrc';
const release = (stage: string, stack: string) => [
  'gh api repos/OWNER/NAME/git/ref/heads/main --jq .object.sha',
  CHECKOUT,
  NODE,
  'npm ci --ignore-scripts',
  `aws-actions/configure-aws-credentials aws-region=REGION role-to-assume=ROLE-${stage}`,
  `npx cdk deploy --strict --require-approval never -c stage=${stage}`,
  `npm run --silent token -- create --name release-7-1 --expires 1h --stack ${stack}`,
  '::add-mask::from-npm',
  `aws cloudformation describe-stacks --stack-name ${stack} --output text ` +
    "--query Stacks[0].Outputs[?OutputKey=='ApiUrl'].OutputValue",
  'npm run --silent smoke PLANT_STORE_TOKEN=from-npm PLANT_STORE_URL=from-aws PLANT_STORE_WAIT=1800',
  `npm run --silent token -- revoke --name release-7-1 --stack ${stack}`,
];
const [staging, production] = [release('staging', 'PlantStore-staging'), release('production', 'PlantStore')];
const variables = { AWS_REGION: 'REGION', AWS_STAGING_DEPLOY_ROLE: 'ROLE-staging', AWS_DEPLOY_ROLE: 'ROLE-production' };
const withoutStaging = { ...variables, AWS_STAGING_DEPLOY_ROLE: '' };

test.each([
  ['with both roles', variables, [...staging, ...production]],
  ['without the role of production', { ...variables, AWS_DEPLOY_ROLE: '' }, staging],
  ['without the role of staging', withoutStaging, production],
  ['without roles', {}, []],
])('%s, a push to main runs the tests, and then releases', (_, vars, releases) => {
  expectEvents(run('deploy.yml', vars), [TESTS, ...releases]);
});

test.each([
  ['staging', variables],
  ['production', withoutStaging],
])('if a step of %s fails or is cancelled, nothing is deployed afterwards, and no token is left', (_, vars) => {
  const events = run('deploy.yml', vars).slice(0, [TESTS, ...staging].length);
  for (const [index, fails] of events.entries().filter(([, event]) => !event.startsWith('::'))) {
    const before = events.slice(0, index + 1);
    const revoked = /describe-stacks| smoke /.test(fails) ? events.slice(-1) : [];
    for (const as of ['failure', 'cancelled']) {
      const errors = as === 'failure' ? revoked.map(() => '::error::') : [];
      expectEvents(run('deploy.yml', vars, { fails, as }), [...before, ...revoked, ...errors, as], `${as} of ${fails}`);
    }
  }
});

test('neither a cancelled run nor a commit that is not the head of main is deployed', () => {
  expectEvents(run('deploy.yml', withoutStaging, { fails: TESTS, as: 'success' }), [TESTS]);
  const events = run('deploy.yml', variables, { sha: 'another' });
  expectEvents(events, [TESTS, ...staging.slice(0, 1), '::error::', 'failure']);
});

test('a pull request is tested, then audited, and its contract is compared without an upload', () => {
  const compared = [
    CHECKOUT.replace(' ', ' fetch-depth=2 '),
    'oasdiff/oasdiff-action/breaking base=HEAD~1:openapi.yaml fail-on=ERR github-token= review=false revision=HEAD:openapi.yaml',
  ];
  const tested = [CHECKOUT, NODE.replace(' ', ' cache=npm '), 'bash .ci/run'];
  const runCi = (fails?: string) => run('ci.yml', {}, { name: 'pull_request', fails: String(fails) });
  const events = runCi();
  expectEvents(events, [...compared, ...tested, 'npm audit --omit=dev --audit-level=high']);
  expectEvents(runCi(events.at(-2)), [...compared, ...tested, 'failure'], 'after failed tests');
  expectEvents(runCi(events.at(-1)), [...events, 'failure'], 'after a failed npm audit');
  expectEvents(run('ci.yml', {}, { name: 'push' }), tested);
});

test('the hourly smoke test installs no package, and says where to read about a failure', () => {
  for (const vars of [{}, { HOURLY_SMOKE_TEST: 'off' }]) expectEvents(run('smoke.yml', vars), []);
  // A variable cannot change to which URL the token is sent.
  const vars = { HOURLY_SMOKE_TEST: 'on', SMOKE: 'OTHER', SMOKE_URL: 'OTHER', PLANT_STORE_URL: 'OTHER' };
  const events = run('smoke.yml', vars);
  const smoke = 'npm run --silent smoke PLANT_STORE_TOKEN=smoke-token PLANT_STORE_URL=URL';
  expectEvents(events, [CHECKOUT, NODE, '::add-mask::smoke-token', smoke]);
  const failed = run('smoke.yml', vars, { fails: smoke });
  expectEvents(failed, [...events, 'summary', 'failure'], 'after a failed smoke test');
});

test('only main starts a deployment, and a new run does not cancel a running one', () => {
  const { 'ci.yml': ci, 'deploy.yml': deploy, 'smoke.yml': smoke } = workflows;
  expect(deploy?.on).toEqual({ push: { branches: ['main'] } });
  expect(ci?.on).toMatchObject({ pull_request: null, workflow_call: null });
  const cron = expect.stringMatching(/^\d+ \* \* \* \*$/);
  expect(smoke?.on).toMatchObject({ schedule: [{ cron }], workflow_dispatch: null });
  expect([ci, deploy, smoke].map((workflow) => workflow?.concurrency)).toEqual([undefined, 'deploy', 'smoke']);
});

function expectKeys(part: Part, known: string) {
  const unknown = Object.keys(part).filter((key) => !known.split(' ').includes(key));
  expect(unknown, 'keys whose meaning this test does not know').toEqual([]);
}
test.each(Object.entries(workflows))('jobs of %s have only permissions they need', (file, { jobs, ...workflow }) => {
  expectKeys(workflow, 'name on permissions concurrency env');
  expect(JSON.stringify(workflow.on)).not.toMatch(/pull_request_target|workflow_run|issue_comment/);
  for (const [id, { steps = [], ...job }] of Object.entries(jobs ?? {})) {
    expectKeys(job, 'name uses needs if runs-on timeout-minutes environment permissions env');
    const hasRole = steps.some((step) => step.with?.['role-to-assume'] !== undefined);
    if (hasRole) expect(file, `the only workflow with a role, such as that of ${id}`).toBe('deploy.yml');
    const readsSecret = /\bsecrets\b/.test(JSON.stringify([workflow.env, job, steps]));
    const environment = hasRole ? job.env?.['STAGE'] : readsSecret ? 'smoke' : undefined;
    expect(job.environment, `the environment of ${id}`).toBe(environment);
    const limits = { 'runs-on': expect.stringMatching(/^ubuntu-/), 'timeout-minutes': expect.any(Number) };
    if (!job.uses) expect(job, id).toMatchObject(limits);
    const used = { contents: 'read', ...(hasRole && { 'id-token': 'write' }) };
    expect(job.permissions ?? workflow.permissions, `the permissions of ${id}`).toEqual(used);
    for (const { uses = '', run = '', ...step } of steps) {
      expectKeys(step, 'name id if with env timeout-minutes');
      expect(run, 'a script with text of others').not.toContain('${{');
      if (uses) expect(uses).toMatch(/@[0-9a-f]{40}$/);
      if (uses.startsWith('actions/checkout@')) expect(step.with).toMatchObject({ 'persist-credentials': false });
    }
  }
});

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const INSTALLED = expect.stringMatching(/ apt-get install .* curl default-jre-headless chromium$/);
test.each([
  ['. .ci/run', [INSTALLED, 'npm ci', 'npm test PROPERTY_RUNS=50 SHUFFLE=1', 'npm run test:slow SHUFFLE=1']],
  [scripts.test, ['tsc', 'vitest run']],
  [scripts.posttest, ['biome ci']],
  [scripts['test:slow'], ['tsc -p test/browser', 'vitest run --config test/slow.config.ts']],
])('the script "%s" fails if one of its commands fails', (script, last) => {
  const runScript = (FAILS = '') => runBash(['-c', script, '.ci/run'], { FAILS });
  const { events } = runScript();
  expect(events.slice(-last.length)).toEqual(last);
  // Without `id`, the person is not root.
  const commands = events.filter((event) => event !== 'id -u');
  for (const command of commands) expect(runScript(command).failed, `failure of ${command}`).toBe(true);
});
