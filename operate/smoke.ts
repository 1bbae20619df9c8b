import { HttpCaller } from './caller.ts';
import { command } from './command.ts';
import { LEFT_BEHIND, NOT_CHECKED } from './smoke/create-plant-rules.ts';
import { type Outcome, outcomesOf } from './smoke/outcomes.ts';
import { rules } from './smoke/rules.ts';

/* npm run smoke: checks a deployment, or the local run, against the contract's rules from outside. */

const USAGE = `Usage: npm run smoke -- BASE_URL --token TOKEN [--json]

BASE_URL is the deployed stack's ApiUrl, or http://127.0.0.1:3000 for the local run. The token may also stand in the
variable PLANT_STORE_TOKEN. --json prints a report for programs. Plants with ids ${LEFT_BEHIND}
are left behind, the same each time.`;

const LABELS = { ok: 'ok   ', failed: 'FAIL ', taken: 'taken' };

const OPTIONS = { token: { type: 'string' }, json: { type: 'boolean', default: false } } as const;

await command({ usage: USAGE, options: OPTIONS, operands: ['BASE_URL'] }, async ({ token, json }, [baseUrl]) => {
  const caller = new HttpCaller(baseUrl, token);
  const startedAt = new Date();
  await caller.checkAccess();
  const outcomes: Outcome[] = [];
  for await (const outcome of outcomesOf(rules, caller)) {
    outcomes.push(outcome);
    const { rule, state, seen } = outcome;
    if (!json) console.log(`${LABELS[state]} ${rule}${seen === undefined ? '' : `: ${seen}`}`);
  }
  const count = (state: Outcome['state']) => outcomes.filter((outcome) => outcome.state === state).length;

  const durationMs = Date.now() - startedAt.getTime();
  const [passed, failed, taken] = [count('ok'), count('failed'), count('taken')];
  if (failed > 0) process.exitCode = 1;
  if (json) {
    const { baseUrl } = caller;
    const whole = { baseUrl, startedAt, durationMs, passed, failed, taken, notChecked: NOT_CHECKED, rules: outcomes };
    console.log(JSON.stringify(whole, null, 2));
  } else {
    console.log(`\nNot to be seen from outside: errors ${NOT_CHECKED.join(', ')}.`);
    if (taken > 0) console.log(`Rules not checked, since different plants hold their ids: ${taken}.`);
    console.log(`${passed} rules hold, ${failed} do not; ${(durationMs / 1000).toFixed(1)} s.`);
  }
});
