import { checks } from '../functions/pre-traffic-hook/all-checks.ts';
import { type CheckResult, runChecks } from '../functions/pre-traffic-hook/check.ts';
import { CHECK_IDS } from '../functions/pre-traffic-hook/client.ts';
import { checkedNumber, command } from './command.ts';
import { HttpClient } from './http-client.ts';

const USAGE = `Usage: npm run smoke -- BASE_URL [--token TOKEN] [--wait SECONDS] [--json]

The smoke test: checks over HTTP that a deployment, or the local run, keeps the contract. BASE_URL is the deployed
stack's ApiUrl, or http://127.0.0.1:3000 for the local run. TOKEN is by default the environment variable
PLANT_STORE_TOKEN. If the first request fails, --wait repeats it for up to SECONDS, for example until DNS knows a new
domain name. --json prints the report as JSON, with the problem of each failed check. The plants that the checks create
are not deleted. Their ids are from ${CHECK_IDS}, positive or negative, and the same for
each run with the same token.`;

const OPTIONS = {
  token: { type: 'string' },
  wait: { type: 'string', default: '0' },
  json: { type: 'boolean', default: false },
} as const;

await command({ usage: USAGE, options: OPTIONS, args: ['BASE_URL'] }, async ({ token, wait, json }, [baseUrl]) => {
  const client = new HttpClient(baseUrl, token);
  const waitSeconds = checkedNumber('--wait', wait, 0, 3600);
  const startedAt = new Date();
  await client.checkAccess(waitSeconds);
  const results: CheckResult[] = [];
  for await (const result of runChecks(checks, client)) {
    results.push(result);
    const { title, problem } = result;
    if (!json) console.log(problem === undefined ? `ok    ${title}` : `FAIL  ${title}: ${problem}`);
  }

  const durationMs = Date.now() - startedAt.getTime();
  const failed = results.filter(({ problem }) => problem !== undefined).length;
  const passed = results.length - failed;
  if (failed > 0) process.exitCode = 1;
  if (json) {
    const report = { baseUrl: client.baseUrl, startedAt, durationMs, passed, failed, checks: results };
    return console.log(JSON.stringify(report, null, 2));
  }
  console.log(`\n${passed} checks passed, ${failed} failed; ${(durationMs / 1000).toFixed(1)} s.`);
});
