import { setTimeout as sleep } from 'node:timers/promises';
import { CodeDeployClient, PutLifecycleEventHookExecutionStatusCommand } from '@aws-sdk/client-codedeploy';
import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { LambdaClient } from '@aws-sdk/client-lambda';
import type { Context } from 'aws-lambda';
import { Database } from '../../functions/shared/database.ts';
import { environmentVariable } from '../../functions/shared/environment-variable.ts';
import { PlantStoreError } from '../../functions/shared/errors.ts';
import { newToken } from '../access-tokens.ts';
import { functionCaller } from './function-caller.ts';
import { outcomesOf } from './outcomes.ts';
import { rulesOfFunction } from './rules.ts';

/*
 * The function that CodeDeploy calls before it moves any traffic to a new version (BeforeAllowTraffic). It asks the new
 * version itself, by the smoke's rules, with a token of its own. What does not hold fails the deployment.
 */

/** Source: "AppSpec 'hooks' section for an AWS Lambda deployment". */
export interface LifecycleEvent {
  DeploymentId: string;
  LifecycleEventHookExecutionId: string;
}

/** Kept of the function's timeout to withdraw the token and to report. */
const REPORT_MS = 20_000;

const database = new Database();
// Lambda refuses what is more at once than the account may run, in a new account perhaps ten ("Lambda quotas").
const lambda = new LambdaClient({ maxAttempts: 10 });
// By default a hang is no error, and CodeDeploy would wait in vain.
const codeDeploy = new CodeDeployClient({
  requestHandler: { connectionTimeout: 3000, requestTimeout: 3000, throwOnRequestTimeout: true },
});

/** Reports to CodeDeploy whether the new version keeps the rules. Throws only where CodeDeploy cannot be told. */
export async function handler(event: LifecycleEvent, context: Context): Promise<void> {
  const { DeploymentId: deploymentId, LifecycleEventHookExecutionId: lifecycleEventHookExecutionId } = event;
  const isSound = await maySucceed(`release-${deploymentId}`, context).catch((error: Error) => {
    logError({ message: 'The new version could not be asked.', seen: `${error.name}: ${error.message}` });
    return false;
  });
  const status = isSound ? 'Succeeded' : 'Failed';
  await codeDeploy.send(
    new PutLifecycleEventHookExecutionStatusCommand({ deploymentId, lifecycleEventHookExecutionId, status }),
  );
}

/**
 * Whether the new version may take traffic: it keeps the rules, or the database is down, so that nothing can be told
 * of it. That one is let pass, since a fix must not wait for a database that is down for the running version too.
 */
async function maySucceed(tokenName: string, context: Context): Promise<boolean> {
  const TableName = environmentVariable('ACCESS_TOKENS_TABLE_NAME');
  const now = Math.floor(Date.now() / 1000);
  // One that cannot be withdrawn is worth nothing from the moment when this function must have ended.
  const expiresAt = now + Math.ceil(context.getRemainingTimeInMillis() / 1000);
  const { token, item } = newToken(tokenName, now, expiresAt);
  try {
    await database.send(new PutItemCommand({ TableName, Item: item }), context);
    return await keepsRules(token, context);
  } catch (error) {
    if (!(error instanceof PlantStoreError)) throw error;
    console.warn({ message: 'The database is down; nothing can be told of the new version.', seen: error.message });
    return true;
  } finally {
    const { digest } = item;
    await database.send(new DeleteItemCommand({ TableName, Key: { digest } }), context).catch((error: Error) => {
      logError({ message: `The token ${tokenName} is not withdrawn; it expires by itself.`, seen: error.message });
    });
  }
}

/** Asks the new version by each rule until the time is up, and logs which do not hold. */
async function keepsRules(token: string, context: Context): Promise<boolean> {
  const operationId = environmentVariable('OPERATION_ID');
  const version = environmentVariable('FUNCTION_VERSION_ARN');
  const { operation, rules } = rulesOfFunction(operationId);
  const outcomes = outcomesOf(rules, functionCaller(lambda, version, operation.path, token));
  const timeUp = sleep(context.getRemainingTimeInMillis() - REPORT_MS, 'time up' as const, { ref: false });
  const counts = { ok: 0, taken: 0, failed: 0 };
  for (;;) {
    const next = await Promise.race([outcomes.next(), timeUp]);
    if (next === 'time up') {
      const unanswered = rules[counts.ok + counts.taken + counts.failed];
      logError({ rule: unanswered?.rule, seen: 'the time was up before it was answered' });
      return false;
    }
    if (next.done) break;
    const { rule, state, seen = '' } = next.value;
    counts[state] += 1;
    if (state === 'failed') logError({ rule, seen });
  }
  console.info({ operation: operationId, version, ...counts });
  return counts.failed === 0;
}

/** Without what could be a token, a part of one, its digest or an event in base64: a broken version may tell them. */
function logError(line: { rule?: string | undefined; message?: string; seen: string }): void {
  console.error({ ...line, seen: line.seen.replaceAll(/[\w+/=]{32,}/g, '...') });
}
