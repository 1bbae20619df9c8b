import { parseArgs } from 'node:util';
import { command } from '../local/command.ts';
import { LEFT_BEHIND, NOT_CHECKED, rules } from './rules.ts';
import { Service } from './service.ts';

/* npm run smoke: checks a deployment, or the local run, against the contract's rules from outside. */

const USAGE = `Usage: npm run smoke -- BASE_URL --token TOKEN [--json]

BASE_URL is the deployed stack's ApiUrl, or http://127.0.0.1:3000 for the local run. The token may also stand in the
variable PLANT_STORE_TOKEN. --json prints a report for programs. Plants with ids ${LEFT_BEHIND}
are left behind, the same each time.`;

interface Outcome {
  rule: string;
  ok: boolean;
  /** What was seen where the rule does not hold. */
  seen?: string;
}

await command(async () => {
  const { service, json } = readArguments();
  const startedAt = new Date();
  const start = performance.now();
  await service.refuseIfAway();
  const outcomes: Outcome[] = [];
  for (const { rule, check } of rules) {
    const outcome = await check(service).then(
      (): Outcome => ({ rule, ok: true }),
      (error: Error): Outcome => ({ rule, ok: false, seen: error.message }),
    );
    outcomes.push(outcome);
    if (!json) console.log(`${outcome.ok ? 'ok   ' : 'FAIL '} ${rule}${outcome.ok ? '' : `: ${outcome.seen}`}`);
  }
  const durationMs = Math.round(performance.now() - start);
  const failed = outcomes.filter(({ ok }) => !ok).length;
  const passed = outcomes.length - failed;
  if (failed > 0) process.exitCode = 1;
  if (json) {
    const report = {
      baseUrl: service.baseUrl,
      startedAt,
      durationMs,
      passed,
      failed,
      notChecked: NOT_CHECKED,
      rules: outcomes,
    };
    console.log(JSON.stringify(report, null, 2));
  } else {
    console.log(`\nNot to be seen from outside: errors ${NOT_CHECKED.join(', ')}.`);
    console.log(`${passed} rules hold, ${failed} do not; ${(durationMs / 1000).toFixed(1)} s.`);
  }
});

function readArguments(): { service: Service; json: boolean } {
  try {
    const options = { token: { type: 'string' }, json: { type: 'boolean', default: false } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    return { service: Service.of(positionals, values.token, USAGE), json: values.json };
  } catch (error) {
    if (error instanceof TypeError) throw new Error(`${error.message}\n${USAGE}`);
    throw error;
  }
}
