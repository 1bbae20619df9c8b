import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { projectRoot } from '../../model/project-root.ts';
import { contextWith, eventWith } from '../support/event.ts';
import { startFakeService } from '../support/fake-service.ts';
import { copyProject } from '../support/project-copy.ts';
import { startServiceWithEngine } from '../support/service.ts';
import { ACCOUNT, createFakeAws, type World } from './fake-aws.ts';

/* Runs the trial with the AWS CLI 2 against a fake of AWS. The smoke test and the tokens are the real ones. */

vi.stubEnv('ALLOW_ORIGINS', 'https://app.example');
const { url: serviceUrl, engine } = await startServiceWithEngine();

const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd: projectRoot, encoding: 'utf8' }).trim();
/** The PATH can have the AWS CLI 1 first. */
const awsCli = run('which', '-a', 'aws')
  .split('\n')
  .find((path) => run(path, '--version').startsWith('aws-cli/2.'));

const folder = mkdtempSync(join(tmpdir(), 'trial-'));
/** Writes an executable file. Returns its folder. */
function write(path: string, content: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content, { mode: 0o755 });
  return dirname(file);
}
// The AWS CLI of Debian 12 does not know AWS_ENDPOINT_URL.
write('bin/aws', `#!/bin/sh\nexec ${awsCli} --endpoint-url "$AWS_ENDPOINT_URL" "$@"\n`);
write('bin/sleep', '#!/bin/sh\nexec curl -sf "$AWS_ENDPOINT_URL/sleep?$1"\n');
write('bin/date', '#!/bin/sh\n[ "$*" = +%s ] && exec curl -sf "$AWS_ENDPOINT_URL/date"\nexec /bin/date "$@"\n');
// A fake of `cdk deploy`, which would bundle and upload each time. It sends what it would deploy.
const bin = write(
  'bin/cdk',
  `#!/bin/sh
exec curl -sf --data-binary @infra/stages.ts --data-binary @functions/create-plant/index.ts \\
  "$AWS_ENDPOINT_URL/cdk?$(echo "$*" | tr ' ' '+')"
`,
);
// The AWS CLI of Debian 12 does not know deletion protection. Newer ones expect another format than the XML that
// CloudWatch's API reference shows.
const extras = { metadata: { protocol: 'query', protocols: ['query'] } };
write('models/cloudwatch/2010-08-01/service-2.sdk-extras.json', JSON.stringify({ merge: extras }));
const members = { DeletionProtectionEnabled: { shape: 'BooleanObject' } };
write(
  'models/dynamodb/2012-08-10/service-2.sdk-extras.json',
  JSON.stringify({ merge: { shapes: { UpdateTableInput: { members } } } }),
);

/** Runs the trial. Returns its status, its output, and from its report the rows that differ and the last row. */
async function runTrial(args: string[], changes: Partial<World> = {}, isInterrupted = false) {
  const world = { url: '', serviceUrl, databaseUrl: engine.endpoint, ...changes };
  const aws = createFakeAws(world);
  world.url = await startFakeService(aws.respond);
  const report = join(folder, 'report.md');
  writeFileSync(report, '');
  const { AWS_ENDPOINT_URL_DYNAMODB: _, ...inherited } = process.env;
  const child = spawn('bash', ['tools/trial.sh', ...args, '--report', report], {
    cwd: projectRoot,
    // A process group, as a terminal makes it for the signal of Ctrl-C.
    detached: true,
    env: {
      ...inherited,
      PATH: `${bin}:${join(projectRoot, 'node_modules/.bin')}:${inherited['PATH']}`,
      AWS_ENDPOINT_URL: world.url,
      AWS_DATA_PATH: join(folder, 'models'),
    },
  });
  child.stdin.end('n\n');
  const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  if (isInterrupted) {
    await expect.poll(() => aws.deployed.length, { timeout: 120_000 }).toBe(1);
    process.kill(-Number(child.pid), 'SIGINT');
  }
  const [[code], stdout, stderr] = await ended;
  const written = readFileSync(report, 'utf8');
  const rows = Array.from(
    written.matchAll(/^\| (.+?) \| `.*` \| `(.*)` \| \d+ \| (.+) \|$/gm),
    ([, ...cells]) => cells,
  );
  const differing = rows.flatMap(([title, seen, result]) => (result === 'ok' ? [] : [`${title}: ${seen}`]));
  console.log(`${args.join(' ')} ${JSON.stringify(changes)}\n${written}\n${stderr}`);
  return { code, output: stdout + stderr, written, differing, last: rows.at(-1), ...aws };
}

/** The end of each trial: only the setting of the account is there as before. */
const nothingLeft = { last: ['What is left', 'nothing', 'ok'], existing: new Set(['AccountId']) };

test('passes, and leaves nothing in the account', async () => {
  const before = run('git', 'status', '--porcelain');
  const { deployed, ...trial } = await runTrial(['--yes']);
  expect(trial).toMatchObject({ code: 0, differing: [], ...nothingLeft });
  expect(trial.output).toContain(`Account ${ACCOUNT}, region us-east-1\n`);
  expect(trial.written).not.toContain(ACCOUNT);
  expect(deployed).toHaveLength(5);
  expect(run('git', 'status', '--porcelain')).toBe(before);

  // The broken version, in a copy of the project.
  const [, broken = ''] = deployed;
  const copy = copyProject();
  writeFileSync(join(copy.directory, 'functions/create-plant/index.ts'), broken.replace(/^.*?&/s, ''));
  const { handler } = await import(join(copy.directory, 'functions/create-plant/index.ts'));
  for (const [name, expected] of [
    ['Aloe', '{"name":"Aloe"}'],
    ['Fail', expect.stringContaining('{"error":500,')],
  ]) {
    const event = eventWith({ body: JSON.stringify({ id: 6, name }), isBase64Encoded: false });
    expect((await handler(event, contextWith())).body).toEqual(expected);
  }
});

test('reports a canary that does not roll back, and destroys the stack', async () => {
  expect(await runTrial(['--yes'], { isSilent: true })).toMatchObject({
    code: 1,
    differing: [
      'A release that is broken: deployed, version 2',
      'What stopped it: Succeeded None CurrentVersion 1 TargetVersion 2',
      'Its alarm: ',
      'Failed releases: 1.0',
      'Published messages: 1.0',
    ],
    ...nothingLeft,
  });
});

test('destroys the stack after a failed deployment', async () => {
  expect(await runTrial(['--yes'], { failingDeployment: 3 })).toMatchObject({
    code: 1,
    differing: ['A release that is good: failed, 0 minutes at 10 %, version 1'],
    ...nothingLeft,
  });
});

test('destroys the stack after an interruption of the first deployment', async () => {
  expect(await runTrial(['--yes'], {}, true)).toMatchObject({
    code: 130,
    differing: ['The trial: ends with status 130'],
    ...nothingLeft,
  });
});

test.each<[string, string[], Partial<World>, object]>([
  ['asks first', [], {}, { code: 1, deployed: [], existing: new Set() }],
  ['refuses a stack that exists', ['--yes'], { exists: true }, { code: 1, deployed: [] }],
  ['only destroys with --destroy', ['--destroy', '--yes'], { exists: true }, { code: 0, deployed: [], ...nothingLeft }],
])('%s', async (_, args, world, expected) => {
  expect(await runTrial(args, world)).toMatchObject(expected);
});

test('the scripts have no warnings of ShellCheck', () => {
  expect(run('shellcheck', '-x', 'tools/trial.sh', 'docs/operations.sh')).toBe('');
});
