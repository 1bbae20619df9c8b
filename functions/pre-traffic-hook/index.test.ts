import { setTimeout as sleep } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith } from '../../test/support/event.ts';
import { type FakeResponse, startFakeService } from '../../test/support/fake-service.ts';
import { startIssuer } from '../../test/support/issuer.ts';
import { HOOK_REPORT_MS } from '../shared/time-limits.ts';

vi.mock('node:timers/promises', { spy: true });

closedAtEnd(await startEngine());
const issuer = closedAtEnd(await startIssuer());
const PROVIDER = { TOKEN_ISSUER: issuer.url, TOKEN_AUDIENCE: 'plants,seeds', TOKEN_SCOPE: 'plants/write' };
Object.assign(process.env, PROVIDER);
const { handler: createPlant } = await import('../create-plant/index.ts');
const correct = (event: APIGatewayProxyEvent) => createPlant(event, contextWith());

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

const VERSION_ARN = 'arn:aws:lambda:us-east-1:000000000000:function:plants:7';
/** "AppSpec 'hooks' section for an AWS Lambda deployment", CodeDeploy User Guide. */
const LIFECYCLE_EVENT = { DeploymentId: 'd-ABCDEF123', LifecycleEventHookExecutionId: 'the-execution-id' };

const ok = (body: unknown, headers = {}): FakeResponse => ({ status: 200, headers, body: JSON.stringify(body) });
/** "Common Errors" of the CodeDeploy API Reference; "Invoke", Lambda API Reference. */
const awsError = (status: number, name: string): FakeResponse => {
  return { status, headers: { 'x-amzn-errortype': name }, body: '{"message":"no"}' };
};
const functionError = ({ name: errorType, message: errorMessage }: Error) =>
  ok({ errorType, errorMessage }, { 'x-amz-function-error': 'Unhandled' });

interface Setup {
  /** Returns the version's response to an event, or throws its error. @default the response of a correct version */
  version?: (event: APIGatewayProxyEvent) => unknown;
  /** Returns true if Lambda throttles the invocation. */
  isThrottled?: () => boolean;
  /** The CodeDeploy action that the hook may not use. */
  denied?: string;
  creator?: string;
  remainingMs?: number;
}

/** Runs the hook. Returns the status that it reported, its log, and the Authorization header of each event. */
async function runHook({ version = correct, isThrottled, denied, creator = 'user', remainingMs }: Setup = {}) {
  const reports: object[] = [];
  const sent: unknown[] = [];
  const aws = await startFakeService(async ({ path, headers, body }) => {
    const input = JSON.parse(body);
    // "Invoke", Lambda API Reference.
    if (path === `/2015-03-31/functions/${encodeURIComponent(VERSION_ARN)}/invocations`) {
      if (isThrottled?.()) return awsError(429, 'TooManyRequestsException');
      sent.push(input.headers.Authorization);
      return await Promise.resolve(input).then(version).then(ok, functionError);
    }
    const action = String(headers['x-amz-target']).replace('CodeDeploy_20141006.', '');
    if (action === denied) return awsError(400, 'AccessDeniedException');
    // "GetDeployment", CodeDeploy API Reference.
    if (action === 'GetDeployment') return ok({ deploymentInfo: { deploymentId: input.deploymentId, creator } });
    // "PutLifecycleEventHookExecutionStatus", CodeDeploy API Reference.
    reports.push(input);
    return ok({ lifecycleEventHookExecutionId: input.lifecycleEventHookExecutionId });
  });
  const endpoints = { AWS_ENDPOINT_URL_LAMBDA: aws, AWS_ENDPOINT_URL_CODEDEPLOY: aws, AWS_MAX_ATTEMPTS: '1' };
  const variables = { NEW_VERSION_ARN: VERSION_ARN, METHOD: 'POST', RESOURCE: '/plants', ...endpoints };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const log: unknown[] = [];
  // The version logs its requests too.
  const record = (line: object) => 'outcome' in line || log.push(line);
  for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockImplementation(record);
  vi.resetModules();
  const { handler } = await import('./index.ts');
  await handler(LIFECYCLE_EVENT, contextWith(remainingMs));
  const { DeploymentId: deploymentId, LifecycleEventHookExecutionId: lifecycleEventHookExecutionId } = LIFECYCLE_EVENT;
  const [status] = ['Succeeded', 'Failed'].filter((each) => JSON.stringify(reports).includes(each));
  expect(reports).toEqual([{ deploymentId, lifecycleEventHookExecutionId, status }]);
  return { status, log, sent };
}

const STARTED = { deploymentId: 'd-ABCDEF123', creator: 'user' };
const REQUESTS = ['without a token', 'with an unknown token', 'with an unsigned JWT'];
/** The Authorization header of each request. */
const AUTHORIZATION = [/^undefined$/, /^Bearer plantstore_0{43}$/, /^Bearer eyJ[\w-]+\.[\w-]+\.$/];
const responseWith = (error: number) => ({
  statusCode: 400,
  headers: { 'WWW-Authenticate': 'Bearer realm="x"' },
  body: JSON.stringify({ error, message: 'secret' }),
});

test('a correct version passes, and needs no keys to reject the unsigned JWT, whose claims are right', async () => {
  const fetched = issuer.requests.length;
  const { status, log, sent } = await runHook();
  expect({ status, log }).toEqual({ status: 'Succeeded', log: [STARTED, { rejected: REQUESTS }] });
  expect(issuer.requests).toHaveLength(fetched);
  const [, header, claims] = String(sent[2]).split(/[ .]/);
  expect(JSON.parse(atob(String(header)))).toEqual({ alg: 'none', typ: 'at+jwt' });
  const { exp, ...others } = JSON.parse(atob(String(claims)));
  expect(others).toEqual({ iss: issuer.url, aud: 'plants', scope: 'plants/write', sub: 'pre-traffic-hook' });
  expect(exp * 1000).toBeGreaterThan(Date.now());
});

test.each([0, 1, 2])('a version that accepts the request %$ fails', async (index) => {
  const accepts = ({ headers }: APIGatewayProxyEvent) => AUTHORIZATION[index]?.test(String(headers['Authorization']));
  const version = (event: APIGatewayProxyEvent) => (accepts(event) ? responseWith(415) : correct(event));
  const problem = 'status 400, error 415; it must be 400, 401 and a challenge';
  const request = REQUESTS[index];
  expect(await runHook({ version })).toMatchObject({ status: 'Failed', log: [STARTED, { request, problem }] });
});

test.each<[string, unknown]>([
  ['status 200', { ...responseWith(401), statusCode: 200 }],
  ['no challenge', { ...responseWith(401), headers: {} }],
  ['another error', responseWith(500)],
  ['a body that is not JSON', { ...responseWith(401), body: 'secret' }],
  ['nothing', null],
])('a version that responds with %s fails at once, and its response is not in the log', async (_, response) => {
  const { status, log, sent } = await runHook({ version: () => response });
  expect({ status, sent }).toEqual({ status: 'Failed', sent: [undefined] });
  expect(log).toEqual([STARTED, { request: REQUESTS[0], problem: expect.not.stringContaining('secret') }]);
});

test.each<[string, Setup]>([
  ...[429, 503, 504].map((error): [string, Setup] => [`error ${error}`, { version: () => responseWith(error) }]),
  ['a function error', { version: () => Promise.reject(new Error('secret')) }],
  ['throttled invocations', { isThrottled: () => true }],
])('repeats requests after %s for 20 s', async (_, failing) => {
  vi.useFakeTimers({ toFake: ['Date'] });
  vi.mocked(sleep).mockImplementation(async (ms) => void vi.setSystemTime(Date.now() + Number(ms)));
  const start = Date.now();
  const fails = () => Date.now() - start < 19_000;
  const { version = correct, isThrottled } = failing;
  const recovering: Setup = {
    version: (event) => (fails() ? version(event) : correct(event)),
    isThrottled: () => fails() && isThrottled?.() === true,
  };
  expect((await runHook(recovering)).status).toBe('Succeeded');
  vi.setSystemTime(start);
  const { status, log } = await runHook(failing);
  expect({ status, seconds: (Date.now() - start) / 1000 }).toEqual({ status: 'Failed', seconds: 20 });
  expect(JSON.stringify(log)).not.toContain('secret');
});

test('reports a failure in time if the version does not respond', async () => {
  const version = () => new Promise(() => {});
  expect(await runHook({ version, remainingMs: HOOK_REPORT_MS + 500 })).toMatchObject({ status: 'Failed' });
});

test.each(['codeDeployRollback', 'CloudFormationRollback'])('does not check a deployment of %s', async (creator) => {
  const log = [{ ...STARTED, creator }];
  expect(await runHook({ creator })).toEqual({ status: 'Succeeded', log, sent: [] });
});

test('checks the version if it cannot read the deployment', async () => {
  const { status, sent } = await runHook({ denied: 'GetDeployment' });
  expect({ status, sent: sent.length }).toEqual({ status: 'Succeeded', sent: 3 });
});

test('throws if CodeDeploy does not accept the report', async () => {
  await expect(runHook({ denied: 'PutLifecycleEventHookExecutionStatus' })).rejects.toThrow('no');
});
