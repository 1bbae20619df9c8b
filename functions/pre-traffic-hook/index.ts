import {
  CodeDeployClient,
  GetDeploymentCommand,
  PutLifecycleEventHookExecutionStatusCommand,
} from '@aws-sdk/client-codedeploy';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { Context } from 'aws-lambda';
import { newToken } from '../shared/access-tokens/token.ts';
import { DynamoDb } from '../shared/dynamodb/dynamodb.ts';
import { environmentVariable } from '../shared/environment-variable.ts';
import { allChecks } from './all-checks.ts';
import { proxyEvent, proxyResponse } from './proxy-event.ts';
import { runChecks, type Send } from './run-checks.ts';

/*
 * The function that CodeDeploy invokes before it moves traffic to a new version. It invokes that version directly, without
 * API Gateway, with its own access tokens. If a check fails, the deployment fails.
 */

/** Source: "AppSpec 'hooks' section for an AWS Lambda deployment". */
interface LifecycleEvent {
  DeploymentId: string;
  LifecycleEventHookExecutionId: string;
}

/** Milliseconds reserved at the end of the invocation to delete the tokens and to report. */
const REPORT_MS = 20_000;
/** `creator` of a deployment that restores the previous version ("DeploymentInfo", CodeDeploy API Reference). */
const ROLLBACKS = ['codeDeployRollback', 'CloudFormationRollback'];

const dynamoDb = new DynamoDb();
// Lambda throttles requests beyond the account's concurrency, which may be 10 in a new account ("Lambda quotas").
const lambda = new LambdaClient({ maxAttempts: 10 });
// Without timeouts, the client could wait forever. CodeDeploy would then wait one hour for the report.
const codeDeploy = new CodeDeployClient({
  requestHandler: { connectionTimeout: 3000, requestTimeout: 3000, throwOnRequestTimeout: true },
});

/** Reports to CodeDeploy whether the new version may receive traffic. Throws only if the report fails. */
export async function handler(event: LifecycleEvent, context: Context): Promise<void> {
  const { DeploymentId: deploymentId, LifecycleEventHookExecutionId: lifecycleEventHookExecutionId } = event;
  const passed = (await isRollback(deploymentId)) || (await passesChecks(deploymentId, context).catch(logFailure));
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
  } catch (error) {
    return logFailure(error as Error, 'The deployment cannot be read, so the version is checked.');
  }
}

/** Runs the checks of the operation on the new version, and logs the first that fails. */
async function passesChecks(deploymentId: string, context: Context): Promise<boolean> {
  const TableName = environmentVariable('ACCESS_TOKENS_TABLE_NAME');
  const operationId = environmentVariable('OPERATION_ID');
  const checks = allChecks[operationId]?.filter(({ smokeTestOnly }) => !smokeTestOnly);
  if (!checks) throw new Error(`functions/pre-traffic-hook/all-checks.ts has no checks of ${operationId}.`);
  const now = Math.floor(Date.now() / 1000);
  // Expires with this invocation, even if it cannot be deleted.
  const valid = newToken(`release-${deploymentId}`, now, now + Math.ceil(context.getRemainingTimeInMillis() / 1000));
  const expired = newToken(`release-${deploymentId}-expired`, now - 7200, now - 3600);
  const deadline = AbortSignal.timeout(context.getRemainingTimeInMillis() - REPORT_MS);
  const items = [valid.item, expired.item];
  try {
    for (const Item of items) await dynamoDb.send('PutItem', { TableName, Item }, context);
    const send = invokeNewVersion(deadline);
    for await (const { title, problem } of runChecks(checks, send, { valid: valid.token, expired: expired.token })) {
      if (problem === undefined) continue;
      console.error({ check: title, problem });
      return false;
    }
    console.info({ operation: operationId, passedChecks: checks.length });
    return true;
  } finally {
    for (const { digest, name } of items) {
      await dynamoDb
        .send('DeleteItem', { TableName, Key: { digest } }, context)
        .catch((error: Error) => logFailure(error, `The token ${name.S} could not be deleted; it expires.`));
    }
  }
}

/** Sends requests to the new version as API Gateway does: as events of a proxy integration. */
function invokeNewVersion(deadline: AbortSignal): Send {
  const FunctionName = environmentVariable('NEW_VERSION_ARN');
  const resource = environmentVariable('RESOURCE_PATH');
  return async ({ method, path: pathWithQuery, headers, body }, signal) => {
    const [path = '', query = ''] = pathWithQuery.split('?');
    const sent = { Host: 'pre-traffic-hook', 'User-Agent': 'pre-traffic-hook', ...headers };
    const event = proxyEvent({ resource, method, path, query, headers: Object.entries(sent), body });
    const { FunctionError, Payload = new Uint8Array() } = await lambda.send(
      new InvokeCommand({ FunctionName, Payload: JSON.stringify(event) }),
      { abortSignal: AbortSignal.any([signal, deadline]) },
    );
    if (FunctionError !== undefined) throw new Error('the function failed; its own log says why');
    return proxyResponse(JSON.parse(Buffer.from(Payload).toString()));
  };
}

function logFailure({ name, message }: Error, failure = 'The new version could not be checked.'): false {
  console.error({ message: failure, problem: `${name}: ${message}` });
  return false;
}
