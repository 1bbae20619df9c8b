import { setTimeout as sleep } from 'node:timers/promises';
import { allChecks } from '../functions/pre-traffic-hook/all-checks.ts';
import { runChecks, type Send } from '../functions/pre-traffic-hook/run-checks.ts';
import type { Check } from '../functions/shared/checks.ts';
import { checked, checkedNumber, command, UsageError } from './command.ts';
import { DEVELOPMENT_TOKEN } from './local/development-token.ts';

const USAGE = `Usage: npm run smoke [-- BASE_URL [--token TOKEN] [--wait SECONDS]]

The smoke test: sends the checks of all operations over HTTP, and some of the gateway. BASE_URL is the ApiUrl of a
deployed stack, and TOKEN is by default the environment variable PLANT_STORE_TOKEN. Without BASE_URL, the local run is
tested, with its own token. If the first request fails, --wait repeats it for up to SECONDS, for example until DNS knows
a new domain name. The plants that the checks create are not deleted. They are the same for each run with one token.`;

const OPTIONS = { token: { type: 'string' }, wait: { type: 'string', default: '0' } } as const;

/** Time between two attempts to get access. */
const POLL_MS = 5000;
/** It changes nothing. Error 401 means another token, error 404 another base URL. */
const accessCheck: Check = {
  title: 'accepts the token',
  request: () => ({ method: 'POST', path: '/plants', body: '{}' }),
  expected: { error: 400 },
};

/** A UUID, because API Gateway ignores any other value of x-amzn-RequestId ("Access logging for REST APIs"). */
const CHOSEN_ID = '00000000-0000-4000-8000-000000000000';

/** The checks that need API Gateway. */
const gatewayChecks: Check[] = [
  {
    title: 'returns error 404 for an unknown path',
    request: () => ({ method: 'POST', path: '/none/a/b', body: '{}' }),
    expected: { error: 404 },
  },
  {
    title: 'returns error 404 for an unknown method, and a body that is not text',
    request: () => ({ method: 'PATCH', path: '/plants', body: Uint8Array.of(0xff, 0x00) }),
    expected: { error: 404 },
  },
  {
    title: 'returns error 404 for a preflight, or allows the method',
    request: () => ({
      method: 'OPTIONS',
      path: '/plants',
      headers: {
        Authorization: '',
        'Content-Type': '',
        Origin: 'https://app.example.com',
        'Access-Control-Request-Method': 'POST',
      },
    }),
    expected: [{ error: 404 }, { headers: { 'access-control-allow-methods': /\bPOST\b/ } }],
  },
  {
    title: 'does not let the client choose the request id',
    request: () => ({
      method: 'POST',
      path: '/plants',
      headers: { Authorization: '', 'x-amzn-RequestId': CHOSEN_ID, 'x-amz-apigw-id': CHOSEN_ID },
      body: '{}',
    }),
    expected: { error: 401, headers: { 'x-amz-apigw-id': new RegExp(`^(?!${CHOSEN_ID}).+`) } },
  },
];

const checksOf: [name: string, checks: Check[]][] = [...Object.entries(allChecks), ['gateway', gatewayChecks]];

await command({ usage: USAGE, options: OPTIONS, optionalArgs: ['BASE_URL'] }, async ({ wait, ...values }, [arg]) => {
  const url = arg ?? `http://127.0.0.1:${process.env['PORT'] || 3000}`;
  // Not only an argument, because other users of the machine can see it.
  const token = values.token ?? (arg === undefined ? DEVELOPMENT_TOKEN : process.env['PLANT_STORE_TOKEN']);
  if (!token) throw new UsageError('There is no token; set --token or the environment variable PLANT_STORE_TOKEN.');
  const baseUrl = checked('BASE_URL', url, /^https?:\/\/[^/]/i, 'an http or https URL').replace(/\/+$/, '');
  const send = sendOverHttp(baseUrl);
  await waitForAccess(baseUrl, send, token, checkedNumber('--wait', wait, 0, 3600));
  const startedAt = performance.now();
  let passed = 0;
  let failed = 0;
  for (const [name, checks] of checksOf) {
    for await (const { title, problem, text } of runChecks(checks, send, { valid: token })) {
      if (problem === undefined) passed += 1;
      else failed += 1;
      console.log(problem === undefined ? `ok    ${name}: ${title}` : `FAIL  ${name}: ${title}: ${problem}`);
      if (text !== undefined) console.log(`      ${printable(text)}`);
    }
  }
  console.log(`\n${passed} checks passed, ${failed} failed; ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
  if (failed > 0) process.exitCode = 1;
});

function sendOverHttp(baseUrl: string): Send {
  return async ({ method, path, headers, body }, signal) => {
    const response = await fetch(baseUrl + path, {
      method,
      headers,
      body: body.length > 0 ? body : null,
      redirect: 'manual',
      signal,
    }).catch(({ message, cause }: Error) => {
      // The message is only "fetch failed"; the cause has the reason.
      throw new Error(`there was no response (${String(cause ?? message)})`);
    });
    return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
  };
}

/** Throws if the access check fails, after up to `waitSeconds`. */
async function waitForAccess(baseUrl: string, send: Send, token: string, waitSeconds: number): Promise<void> {
  const deadline = Date.now() + waitSeconds * 1000;
  for (;;) {
    const [result] = await Array.fromAsync(runChecks([accessCheck], send, { valid: token }));
    if (result?.problem === undefined) return;
    if (Date.now() >= deadline) throw new Error(`${baseUrl} does not accept the token: ${result.problem}.`);
    await sleep(POLL_MS);
  }
}

/** Shortens a text, and removes control characters, which could control the terminal. */
function printable(text: string): string {
  return text.slice(0, 200).replaceAll(/[\p{Cc}\s]+/gu, ' ');
}
