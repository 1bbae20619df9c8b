import { setTimeout as sleep } from 'node:timers/promises';
import {
  CodeDeployClient,
  GetDeploymentCommand,
  PutLifecycleEventHookExecutionStatusCommand,
} from '@aws-sdk/client-codedeploy';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { Context } from 'aws-lambda';
import { UNKNOWN_TOKEN } from '../shared/access-tokens/token.ts';
import { environmentVariable, optionalVariable } from '../shared/environment.ts';
import { TEMPORARY_ERRORS } from '../shared/errors.ts';
import { HOOK_REPEAT_MS, HOOK_REPORT_MS } from '../shared/time-limits.ts';

/** Source: "AppSpec 'hooks' section for an AWS Lambda deployment". */
type LifecycleEvent = Record<'DeploymentId' | 'LifecycleEventHookExecutionId', string>;

/** `creator` of a deployment that restores the previous version ("DeploymentInfo", CodeDeploy API Reference). */
const ROLLBACKS = ['codeDeployRollback', 'CloudFormationRollback'];

const lambda = new LambdaClient();
// Without timeouts, the client could wait forever. CodeDeploy would then wait one hour for the report.
const codeDeploy = new CodeDeployClient({
  requestHandler: { connectionTimeout: 3000, requestTimeout: 3000, throwOnRequestTimeout: true },
});

/**
 * CodeDeploy invokes this before it moves traffic to a new version. It invokes that version, without API Gateway, with
 * requests that the version must reject with error 401, and reports the result. Throws only if the report fails.
 */
export async function handler(event: LifecycleEvent, context: Context): Promise<void> {
  const { DeploymentId: deploymentId, LifecycleEventHookExecutionId: lifecycleEventHookExecutionId } = event;
  const deadline = AbortSignal.timeout(context.getRemainingTimeInMillis() - HOOK_REPORT_MS);
  const passed = (await isRollback(deploymentId)) || (await rejectsAll(deadline));
  const status = passed ? 'Succeeded' : 'Failed';
  await codeDeploy.send(
    new PutLifecycleEventHookExecutionStatusCommand({ deploymentId, lifecycleEventHookExecutionId, status }),
  );
}

/** Returns true for a deployment that restores the previous version, which is not checked. */
async function isRollback(deploymentId: string): Promise<boolean> {
  try {
    const { deploymentInfo } = await codeDeploy.send(new GetDeploymentCommand({ deploymentId }));
    const creator = deploymentInfo?.creator ?? '';
    console.info({ deploymentId, creator });
    return ROLLBACKS.includes(creator);
  } catch (thrown) {
    console.error({ message: 'The deployment cannot be read, so the version is checked.', problem: String(thrown) });
    return false;
  }
}

/** Sends the requests one after the other. Logs the first that the version does not reject as it must. */
async function rejectsAll(abortSignal: AbortSignal): Promise<boolean> {
  const repeatUntil = Date.now() + HOOK_REPEAT_MS;
  const issuer = optionalVariable('TOKEN_ISSUER');
  const requests = {
    'without a token': {},
    'with an unknown token': { Authorization: `Bearer ${UNKNOWN_TOKEN}` },
    ...(issuer && { 'with an unsigned JWT': { Authorization: `Bearer ${unsignedJwt(issuer)}` } }),
  };
  for (const [request, headers] of Object.entries(requests)) {
    let failure = await send(headers, abortSignal);
    while (failure?.isTemporary && Date.now() < repeatUntil) {
      await sleep(1000);
      failure = await send(headers, abortSignal);
    }
    if (failure) {
      console.error({ request, problem: failure.problem });
      return false;
    }
  }
  console.info({ rejected: Object.keys(requests) });
  return true;
}

/** Invokes the new version. Returns undefined if it rejects the request, or else the problem, without the response. */
async function send(headers: Record<string, string>, abortSignal: AbortSignal) {
  try {
    const [httpMethod, resource] = [environmentVariable('METHOD'), environmentVariable('RESOURCE')];
    const requestContext = { extendedRequestId: 'pre-traffic-hook' };
    const Payload = JSON.stringify({ httpMethod, resource, path: resource, headers, requestContext, body: null });
    const invocation = new InvokeCommand({ FunctionName: environmentVariable('NEW_VERSION_ARN'), Payload });
    const result = await lambda.send(invocation, { abortSignal });
    if (result.FunctionError) return { problem: 'the function failed; its own log says why', isTemporary: true };
    const response: Record<string, unknown> = JSON.parse(Buffer.from(result.Payload ?? []).toString());
    const { error }: { error?: unknown } = JSON.parse(String(response['body']));
    const { 'WWW-Authenticate': challenge } = Object(response['headers']);
    if (response['statusCode'] === 400 && error === 401 && /^Bearer /.test(challenge)) return undefined;
    const problem = `status ${Number(response['statusCode'])}, error ${Number(error)}; it must be 400, 401 and a challenge`;
    return { problem, isTemporary: TEMPORARY_ERRORS.includes(error) };
  } catch (thrown) {
    // The message of a SyntaxError contains a part of the response.
    const problem = thrown instanceof SyntaxError ? 'the response is not JSON' : String(thrown);
    return { problem, isTemporary: (thrown as Error).name === 'TooManyRequestsException' };
  }
}

/** Returns a JWT whose claims the new version accepts, and whose algorithm is `none` (RFC 8725, 2.1). */
function unsignedJwt(iss: string): string {
  const [aud] = optionalVariable('TOKEN_AUDIENCE')?.split(',') ?? [];
  const scope = optionalVariable('TOKEN_SCOPE');
  const exp = Math.floor(Date.now() / 1000) + 300;
  const claims = { iss, aud, scope, sub: 'pre-traffic-hook', exp };
  const parts = [{ alg: 'none', typ: 'at+jwt' }, claims].map((part) => Buffer.from(JSON.stringify(part)));
  return `${parts.map((part) => part.toString('base64url')).join('.')}.`;
}
