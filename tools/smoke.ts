import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { checked, checkedNumber, command, UsageError } from './shared/command.ts';
import { printable } from './shared/printable.ts';
import { check } from './smoke/check.ts';
import { smokeRequests } from './smoke/requests.ts';

const USAGE = `Usage:
  npm run smoke -- [--stack STACK] [--wait SECONDS]
  npm run smoke -- BASE_URL [--wait SECONDS]

The smoke test: sends requests over HTTP and checks the responses. It creates a token of its own in the stack, by default
the local run, checks what is stored, and deletes what it has written. If the first request fails, --wait repeats it for
up to SECONDS, for example until DNS knows a new domain name.

With BASE_URL, it needs no AWS credentials and no installed packages. The token is the environment variable
PLANT_STORE_TOKEN. It checks only the responses, and deletes nothing: its plants are the same for each run with one token.`;

const OPTIONS = { stack: { type: 'string' }, wait: { type: 'string', default: '0' } } as const;
const POLL_MS = 5000;

await command({ usage: USAGE, options: OPTIONS, optionalArgs: ['BASE_URL'] }, async ({ stack, wait }, [url]) => {
  if (stack !== undefined && url !== undefined) throw new UsageError('--stack and BASE_URL exclude each other.');
  if (url !== undefined) checked('BASE_URL', url, /^https?:\/\/[^/]/i, 'an http or https URL');
  const waitMs = checkedNumber('--wait', wait, 0, 1800) * 1000;
  // Imported only here, because the AWS SDK is a package.
  const opened = url === undefined ? await (await import('./smoke/stack.ts')).openStack(stack) : undefined;
  const token = opened?.token ?? process.env['PLANT_STORE_TOKEN'];
  if (!token) throw new UsageError('PLANT_STORE_TOKEN is missing; it must be an access token.');
  const baseUrl = String(opened?.baseUrl ?? url).replace(/\/+$/, '');
  const isDeployed = stack !== undefined || baseUrl.startsWith('https:');
  const requests = smokeRequests({ id: idOf(token), token, expiredToken: opened?.expiredToken, isDeployed });
  const plants = new Map(requests.flatMap(({ id, plant }) => (id !== undefined && plant ? [[id, plant]] : [])));
  const ids = [...plants.keys()].join(', ');
  // First, because a run that is killed deletes nothing.
  console.log(`Plants: ${ids}${opened ? `. Token: ${opened.tokenName}` : ''}\n`);

  let interrupted = false;
  const interrupt = () => {
    interrupted = true;
  };
  // Not `once`: after Ctrl-C, the terminal and npm send the signal.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, interrupt);
  const startedAt = Date.now();
  const problems: (string | undefined)[] = [];
  const report = (title: string, problem: string | undefined) => {
    problems.push(problem);
    console.log(problem === undefined ? `ok    ${title}` : `FAIL  ${title}: ${printable(problem)}`);
  };
  try {
    for (const request of requests) {
      let problem = await check(baseUrl, request, token);
      while (problems.length === 0 && problem !== undefined && !interrupted && Date.now() < startedAt + waitMs) {
        await sleep(POLL_MS);
        problem = await check(baseUrl, request, token);
      }
      if (interrupted) throw new Error('Interrupted.');
      report(request.title, problem);
      // Without access, all requests would fail.
      if (problems.length === 1 && problem !== undefined) break;
    }
    if (opened && problems.length > 1)
      report('has stored exactly the plants of its responses', await opened.compareStored(plants));
  } finally {
    const kept = await opened?.cleanUp(plants);
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, interrupt);
    if (kept) report('deletes the plants', `other members are stored under ${kept}`);
  }
  const failures = problems.filter((problem) => problem !== undefined);
  if (!opened && failures.some((problem) => problem.includes('error 409')))
    console.log(`\nIf an earlier version has stored these plants wrongly, delete them: ${ids}`);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(`\n${problems.length - failures.length} passed, ${failures.length} failed; ${seconds} s.`);
  if (failures.length > 0) process.exitCode = 1;
});

/**
 * Returns the id of a run: a hash of the token, from 2^63 - 2^52 + 1 to 2^63 - 1023. A broken version cannot damage the plants
 * of clients with it. Doubles of this size are 1,024 apart, so a version that rounds ids confuses those of a run.
 */
function idOf(token: string): bigint {
  const hash42Bits = hash('sha256', token, 'buffer').readBigUInt64BE() >> 22n;
  return 2n ** 63n - 2n ** 52n + hash42Bits * 1024n + 1n;
}
