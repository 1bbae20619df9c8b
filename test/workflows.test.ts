import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { data, Evaluator, Lexer, Parser } from '@actions/expressions';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

/* The rules of the workflows, the order of their steps, and their scripts, with a fake in place of each program. */

type Values = Record<string, unknown>;
type Texts = Partial<Record<'id' | 'if' | 'uses' | 'run' | 'runs-on' | 'concurrency', string>>;
/** A workflow, a job or a step. */
type Part = Texts & Partial<Record<'on' | 'permissions' | 'env' | 'with', Values>> & { steps?: Part[] };

const read = (file: string): Part & { jobs: Record<string, Part> } =>
  parse(readFileSync(`.github/workflows/${file}`, 'utf8'));
const [ci, deploy, smoke] = [read('ci.yml'), read('deploy.yml'), read('smoke.yml')];

/** Evaluates an expression with GitHub's own evaluator, which throws if a context is not available. */
function evaluate(expression: string, contexts: Values): string {
  const tree = new Parser(new Lexer(expression).lex().tokens, Object.keys(contexts), []).parse();
  return new Evaluator(tree, JSON.parse(JSON.stringify(contexts), data.reviver)).evaluate().coerceString();
}

test.each([
  ['ROLE', 'success', 'success', 'true'],
  ['ROLE', 'success', 'skipped', 'true'],
  ['', 'success', 'success', 'false'],
  ['ROLE', 'failure', 'skipped', 'false'],
  ['ROLE', 'success', 'failure', 'false'],
])('with the role "%s", check: %s, staging: %s, production is deployed: %s', (role, check, staging, isDeployed) => {
  const needs = { check: { result: check }, staging: { result: staging } };
  const contexts = { vars: { AWS_DEPLOY_ROLE: role }, needs };
  const condition = String(deploy.jobs['production']?.if);
  expect(evaluate(condition.replace('cancelled()', 'false'), contexts)).toBe(isDeployed);
  expect(evaluate(condition.replace('cancelled()', 'true'), contexts)).toBe('false');
});

const RELEASE = [
  'actions/checkout',
  'actions/setup-node',
  'npm ci --ignore-scripts',
  'aws-actions/configure-aws-credentials',
  'gh api, ::error',
  'token -- create',
  'run --silent smoke, cdk deploy',
  'run --silent smoke',
  "token -- revoke if always() && steps.tokens.outcome == 'success'",
  "::error if failure() && steps.smoke.outcome == 'failure'",
];
const ofPullRequest = "github.event_name == 'pull_request'";
test.each([
  ['staging', deploy, RELEASE],
  ['production', deploy, RELEASE],
  ['check', ci, ['actions/checkout', 'actions/setup-node', '.ci/run', `npm audit if ${ofPullRequest}`]],
  ['contract', ci, ['actions/checkout', 'oasdiff/oasdiff-action/breaking']],
  // Without npm ci, because no package should have access to its token.
  ['smoke', smoke, ['actions/checkout', 'actions/setup-node', '::error, run --silent smoke', 'SUMMARY if failure()']],
])('the job %s has these steps', (job, workflow, expected) => {
  const parts = /gh api|npm ci.*|npm audit|\.ci\/run|cdk deploy|token -- \w+|run --silent smoke|::error|SUMMARY/g;
  const steps = workflow.jobs[job]?.steps?.map(({ uses, run = '', if: condition }) => {
    const does = uses?.replace(/@.*/, '') ?? [...new Set(run.match(parts))].join(', ');
    return condition === undefined ? does : `${does} if ${condition}`;
  });
  expect(steps).toEqual(expected);
});

test('only main starts a deployment, which no other run cancels', () => {
  expect(deploy.on).toEqual({ push: { branches: ['main'] } });
  expect(ci.on).toEqual({ pull_request: null, workflow_call: null });
  const cron = expect.stringMatching(/^\d+ \* \* \* \*$/);
  expect(smoke.on).toEqual({ schedule: [{ cron }], workflow_dispatch: null });
  expect([ci, deploy, smoke].map(({ concurrency }) => concurrency)).toEqual([undefined, 'deploy', 'smoke']);
});

const files = readdirSync('.github/workflows');
const CHECKOUT = { 'persist-credentials': false };
const NODE = { 'node-version-file': '.nvmrc' };
const ROLE = { 'role-to-assume': `\${{ env.ROLE }}`, 'aws-region': `\${{ vars.AWS_REGION }}` };
const OASDIFF = { base: 'HEAD~1:openapi.yaml', revision: 'HEAD:openapi.yaml', 'fail-on': 'ERR' };
const permissions = { contents: 'read' };
const release = (STAGE: string, role: string) => ({
  'timeout-minutes': 60,
  permissions: { ...permissions, 'id-token': 'write' },
  environment: STAGE,
  env: { STAGE, ROLE: `\${{ vars.${role} }}` },
  with: [CHECKOUT, NODE, ROLE],
});
test('each job has its condition, minutes, permissions, environment, variables and inputs', () => {
  const actual = files.flatMap((file) => {
    const { jobs, ...workflow } = read(file);
    return Object.entries(jobs).map(([id, { 'runs-on': _, steps = [], ...job }]) => {
      const inputs = steps.flatMap((step) => step.with ?? []);
      return [`${file} ${id}`, { permissions: workflow.permissions, ...job, with: inputs }];
    });
  });
  expect(Object.fromEntries(actual)).toEqual({
    'ci.yml check': { permissions, 'timeout-minutes': 60, with: [CHECKOUT, { ...NODE, cache: 'npm' }] },
    'ci.yml contract': {
      if: ofPullRequest,
      permissions,
      'timeout-minutes': 15,
      with: [
        { ...CHECKOUT, 'fetch-depth': 2 },
        { ...OASDIFF, review: false, 'github-token': '' },
      ],
    },
    'deploy.yml check': { permissions, uses: './.github/workflows/ci.yml', with: [] },
    'deploy.yml staging': {
      needs: 'check',
      if: "vars.AWS_STAGING_DEPLOY_ROLE != ''",
      ...release('staging', 'AWS_STAGING_DEPLOY_ROLE'),
    },
    'deploy.yml production': {
      needs: ['check', 'staging'],
      if: deploy.jobs['production']?.if,
      ...release('production', 'AWS_DEPLOY_ROLE'),
    },
    'smoke.yml smoke': {
      if: "vars.HOURLY_SMOKE_TEST == 'on'",
      permissions,
      'timeout-minutes': 15,
      environment: 'smoke',
      with: [CHECKOUT, NODE],
    },
  });
});

test.each(files)('%s has pinned actions, and no text of others', (file) => {
  const workflow = read(file);
  // In another shell, a script goes on after a failed command. The triggers run with secrets for a stranger's text.
  const unsafe = /"(shell|continue-on-error|pull_request_target|workflow_run|issue_comment)"/;
  expect(JSON.stringify(workflow)).not.toMatch(unsafe);
  for (const { steps = [] } of Object.values(workflow.jobs)) {
    for (const { uses, run = '', ...step } of steps) {
      expect(run, 'a script with text of others').not.toContain('${{');
      if (uses) expect(uses).toMatch(/@[0-9a-f]{40}$/);
      const named = [...JSON.stringify(step).matchAll(/\bsteps\.(\w+)/g)].map(([, name]) => name);
      expect(steps.map((each) => each.id)).toEqual(expect.arrayContaining(named));
    }
  }
});

const folder = mkdtempSync(join(tmpdir(), 'programs-'));
const programs = ['apt-get', 'aws', 'gh', 'id', 'npm', 'npx', 'sleep', 'sudo'];
for (const name of programs) symlinkSync(resolve('test/support/fake-program.sh'), join(folder, name));
for (const name of ['dirname', 'grep', 'tail']) symlinkSync(`/usr/bin/${name}`, join(folder, name));
const [CALLS, GITHUB_OUTPUT] = [join(folder, 'calls'), join(folder, 'output')];

/**
 * Runs a script with a fake in place of each program. The call `FAILS` fails. Waits until all that the script has
 * started has ended.
 */
async function runBash(args: string[], variables: Values) {
  for (const file of [CALLS, GITHUB_OUTPUT]) writeFileSync(file, '');
  const github = { GITHUB_OUTPUT, GITHUB_REPOSITORY: 'OWNER/NAME', GITHUB_SHA: 'NEW', RUNNER_TEMP: folder };
  // The second pipe is open until each process that inherits it has ended, also one whose output goes to a file.
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore', 'pipe'];
  const script = spawn('/bin/bash', args, { env: { PATH: folder, CALLS, ...github, ...variables }, stdio });
  let stdout = '';
  script.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  const [status] = await once(script, 'close');
  return { failed: status !== 0, stdout, calls: readFileSync(CALLS, 'utf8').split('\n').slice(0, -1) };
}

/** Runs the last script of a job that contains `text`, as GitHub does on Linux. */
function runStep(workflow: Part & { jobs: Record<string, Part> }, job: string, text: string, variables: Values = {}) {
  const { env, steps = [] } = workflow.jobs[job] ?? {};
  const step = steps.findLast(({ run }) => run?.includes(text));
  const outputs = { canary: 'canary-token', final: 'final-token' };
  const contexts = {
    github: { token: 'github-token', run_id: 7, run_attempt: 1 },
    secrets: { SMOKE: 'URL\nsmoke-token', ...variables },
    steps: { tokens: { outputs } },
    vars: {},
  };
  const texts = Object.entries({ ...workflow.env, ...env, ...step?.env }).map(([name, value]) => {
    return [name, String(value).replaceAll(/\${{(.*?)}}/g, (_, inner) => evaluate(inner, contexts))];
  });
  return runBash(['-e', '-c', String(step?.run)], { ...variables, ...Object.fromEntries(texts) });
}

const outputOf = (name: string) =>
  `aws cloudformation describe-stacks --stack-name PlantStore-production --output text --query Stacks[0].Outputs[?OutputKey=='${name}'].OutputValue`;
const [COMMIT, API_URL] = [outputOf('Commit'), outputOf('ApiUrl')];
const compare = (base: string) => `gh api repos/OWNER/NAME/compare/${base}...NEW --jq .status GH_TOKEN=github-token`;
const token = (action: string, use: string, more = '') =>
  `npm run --silent token -- ${action} --name release-7-1-${use}${more} --stack PlantStore-production`;
const smokeWith = (variables: string) => `npm run --silent smoke ${variables}`;

test.each([
  ['gh api', [COMMIT, compare('from-aws')]],
  ['token -- create', [token('create', 'canary', ' --expires 1h'), token('create', 'final', ' --expires 1h')]],
  [
    'run --silent smoke',
    [API_URL, smokeWith('PLANT_STORE_TOKEN=final-token PLANT_STORE_URL=from-aws PLANT_STORE_WAIT=1800')],
  ],
  ['token -- revoke', [token('revoke', 'canary'), token('revoke', 'final')]],
])('the script with "%s" makes exactly its calls, and fails if one of them fails', async (text, calls) => {
  expect(await runStep(deploy, 'production', text)).toMatchObject({ failed: false, calls });
  for (const FAILS of calls) {
    expect((await runStep(deploy, 'production', text, { FAILS })).failed, FAILS).toBe(true);
  }
});

test.each<[when: string, variables: Values, failed: boolean, stdout: string]>([
  ['GitHub does not have the deployed one', { FAILS: compare('OLD') }, true, '::error::Not deployed: GitHub does not'],
  ['the deployed one is newer', { GH_PRINTS: 'behind' }, true, '::error::Not deployed: PlantStore-production has '],
  ['the deployed one is of another branch', { GH_PRINTS: 'diverged' }, false, ''],
  ['it was deployed with changes', { GH_PRINTS: 'ahead', AWS_PRINTS: 'OLD and local changes' }, false, ''],
  ['the deployed one is unknown', { AWS_PRINTS: '' }, false, '::warning::'],
])('if %s, a commit is deployed, unless it could replace a newer one', async (_, variables, failed, stdout) => {
  const given = { AWS_PRINTS: 'OLD', ...variables };
  const ended = await runStep(deploy, 'production', 'gh api', given);
  expect(ended).toMatchObject({ failed, stdout: stdout ? expect.stringContaining(stdout) : '' });
  expect(ended.calls).toEqual(given.AWS_PRINTS ? [COMMIT, compare('OLD')] : [COMMIT]);
});

test('the hourly smoke test needs both lines of its secret, and no variable changes where it sends the token', async () => {
  const runSmoke = (variables: Values) => runStep(smoke, 'smoke', 'smoke', variables);
  const calls = [smokeWith('PLANT_STORE_TOKEN=smoke-token PLANT_STORE_URL=URL')];
  const masked = '::add-mask::smoke-token\nfrom-npm\n';
  expect(await runSmoke({ PLANT_STORE_URL: 'OTHER' })).toEqual({ failed: false, stdout: masked, calls });
  expect(await runSmoke({ FAILS: calls[0] })).toMatchObject({ failed: true });
  const stdout = expect.stringContaining('::error::The secret SMOKE must have two lines');
  expect(await runSmoke({ SMOKE: 'URL' })).toEqual({ failed: true, stdout, calls: [] });
});

test('the log of a release shows no token', async () => {
  expect((await runStep(deploy, 'staging', 'token -- create')).stdout).toBe('::add-mask::from-npm\n'.repeat(2));
  expect(readFileSync(GITHUB_OUTPUT, 'utf8')).toBe('canary=from-npm\nfinal=from-npm\n');
});

test.each(
  Object.entries({
    'operations.md': [
      'npm run --silent token -- create --name smoke --expires 1h --stack STACK',
      'npm run smoke PLANT_STORE_TOKEN=from-npm PLANT_STORE_URL=API_URL',
      'npm run token -- revoke --name smoke --stack STACK',
    ],
    'pipeline.md': [
      'npm run --silent token -- create --name hourly-smoke --expires 365d --stack PlantStore-production',
      'gh secret set SMOKE --env smoke -R OWNER/REPOSITORY',
      'gh variable set HOURLY_SMOKE_TEST --body on -R OWNER/REPOSITORY',
    ],
  }),
)(
  'the block of docs/%s with a token makes these calls, and without the token no other but to revoke it',
  async (page, calls) => {
    const [, block = ''] = /^```sh\n(TOKEN=.*?)^```$/ms.exec(readFileSync(`docs/${page}`, 'utf8')) ?? [];
    expect((await runBash(['-c', block], {})).calls).toEqual(calls);
    const { calls: withoutToken } = await runBash(['-c', block], { FAILS: calls[0] });
    expect(withoutToken).toEqual(calls.filter((call) => call === calls[0] || call.includes(' revoke ')));
  },
);

const canary = (minute: number) =>
  smokeWith(`PLANT_STORE_SEED=${minute} PLANT_STORE_TOKEN=canary-token PLANT_STORE_URL=from-aws`);
const [PAUSE, SHOWN] = ['sleep 30', 'from-npm\n'];
const DEPLOY = 'npx cdk deploy';
test.each<[string, variables: Values, requests: string[], shown: string, failed: boolean]>([
  ['a failed smoke test', { RUNS: 3, FAILS: canary(0) }, [canary(0), PAUSE], '', false],
  // Bash begins to count the seconds at this number.
  ['plants of the 10th minute', { RUNS: 3, SECONDS: 600 }, [canary(10), PAUSE], SHOWN, false],
  ['a smoke test that still runs', { RUNS: 1, SMOKE_TAKES: 0.3 }, [canary(0)], '', false],
  ['a loop that has ended', { RUNS: 1, FAILS: PAUSE, DEPLOYMENT_TAKES: 0.3 }, [canary(0), PAUSE], SHOWN, false],
  ['a failed deployment', { RUNS: 3, FAILS: DEPLOY }, [canary(0), PAUSE], SHOWN, true],
])('with %s, its step fails only if the deployment fails, and leaves no process', async (_, variables, ...expected) => {
  const [requests, shown, failed] = expected;
  const ended = await runStep(deploy, 'production', 'cdk deploy', variables);
  const [first, ...others] = ended.calls;
  expect([first, ended.failed]).toEqual([API_URL, failed]);
  const isDeployment = (call: string) => call.startsWith(DEPLOY);
  const words = new Set(others.find(isDeployment)?.split(' '));
  expect(words).toEqual(new Set(`${DEPLOY} --strict --require-approval never -c stage=production`.split(' ')));
  expect(new Set(others.filter((call) => !isDeployment(call)))).toEqual(new Set(requests));
  expect(ended.stdout, 'the end of what the smoke tests print').toContain(shown);
});

test('.ci/run installs what is missing, runs all tests, and fails if one of its commands fails', async () => {
  const runScript = (FAILS = '') => runBash(['.ci/run'], { FAILS });
  const { calls } = await runScript();
  expect(calls.slice(-4)).toEqual([
    expect.stringMatching(/ apt-get install .* curl default-jre-headless chromium$/),
    'npm ci',
    'npm test CI=true PROPERTY_RUNS=50 SHUFFLE=1',
    'npm run test:slow CI=true SHUFFLE=1',
  ]);
  // Without `id`, the person is not root.
  const commands = calls.filter((call) => call !== 'id -u');
  for (const command of commands) expect((await runScript(command)).failed, `failure of ${command}`).toBe(true);
});
