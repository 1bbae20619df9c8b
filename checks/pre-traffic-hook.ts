import { setTimeout as sleep } from 'node:timers/promises';
import {
  CodeDeployClient,
  GetDeploymentCommand,
  PutLifecycleEventHookExecutionStatusCommand,
} from '@aws-sdk/client-codedeploy';
import { LambdaClient } from '@aws-sdk/client-lambda';
import type { Context } from 'aws-lambda';
import { newToken } from '../functions/shared/access-tokens/token.ts';
import { DynamoDb } from '../functions/shared/dynamodb/dynamodb.ts';
import { environmentVariable } from '../functions/shared/environment-variable.ts';
import { PlantStoreError, PROVIDER_UNAVAILABLE } from '../functions/shared/errors.ts';
import { checksOfFunction } from './all-checks.ts';
import { DatabaseUnavailable, runChecks } from './check.ts';
import { Client, type RawResponse, type Send } from './client.ts';
import { harmlessRequest, UNKNOWN_TOKEN } from './contract-checks.ts';
import { functionSender } from './function-sender.ts';

/*
 * The function that CodeDeploy invokes before it moves traffic to a new version (BeforeAllowTraffic). It invokes the new
 * version directly, without API Gateway, with its own access tokens. If a check fails, the deployment fails.
 */

/** Source: "AppSpec 'hooks' section for an AWS Lambda deployment". */
export interface LifecycleEvent {
  DeploymentId: string;
  LifecycleEventHookExecutionId: string;
}

/** Milliseconds reserved at the end of the invocation to delete the tokens and to report. */
const REPORT_MS = 20_000;
/** Maximum number of attempts if the new version responds that the database is unavailable. */
const MAX_ATTEMPTS = 5;
const PAUSE_MS = 2000;

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
  const passed = await mayReceiveTraffic(deploymentId, context).catch((error: Error) => {
    console.error({ message: 'The new version could not be checked.', problem: `${error.name}: ${error.message}` });
    return false;
  });
  const status = passed ? 'Succeeded' : 'Failed';
  await codeDeploy.send(
    new PutLifecycleEventHookExecutionStatusCommand({ deploymentId, lifecycleEventHookExecutionId, status }),
  );
}

/**
 * True if the version passes the checks. Also true for a rollback, and if the database is unavailable to the current
 * version too: an outage must not block a fix.
 */
async function mayReceiveTraffic(deploymentId: string, context: Context): Promise<boolean> {
  const versions = await versionsOf(deploymentId);
  if (!versions) {
    console.info({ message: 'The deployment is a rollback, so the version is not checked.', deploymentId });
    return true;
  }
  const TableName = environmentVariable('ACCESS_TOKENS_TABLE_NAME');
  const now = Math.floor(Date.now() / 1000);
  // Expires with this invocation, even if it cannot be deleted.
  const valid = newToken(`release-${deploymentId}`, now, now + Math.ceil(context.getRemainingTimeInMillis() / 1000));
  const expired = newToken(`release-${deploymentId}-expired`, now - 7200, now - 3600);
  const { operation, checks } = checksOfFunction(environmentVariable('OPERATION_ID'), {
    expiredToken: expired.token,
    // "*" allows any origin.
    allowedOrigin: process.env['ALLOW_ORIGINS']?.split(',')[0]?.replace('*', 'https://app.example.com'),
    tokenIssuer: process.env['TOKEN_ISSUER'],
    tokenAudience: process.env['TOKEN_AUDIENCE']?.split(',')[0],
    tokenScope: process.env['TOKEN_SCOPE'],
  });
  const timeout = AbortSignal.timeout(context.getRemainingTimeInMillis() - REPORT_MS);
  const sendToCurrent = functionSender(lambda, versions.current, operation.path, timeout);
  const sendToTarget = functionSender(lambda, versions.target, operation.path, timeout);
  const items = [valid.item, expired.item];
  try {
    for (const Item of items) await dynamoDb.send('PutItem', { TableName, Item }, context);
    const client = new Client(valid.token, retryWhileUnavailable(sendToTarget, sendToCurrent, timeout));
    for await (const { title, problem } of runChecks(checks, client)) {
      if (problem === undefined) continue;
      console.error({ check: title, problem: timeout.aborted ? 'the check did not end in time' : redacted(problem) });
      return false;
    }
    console.info({ operation: operation.operationId, versionArn: versions.target, passed: checks.length });
    return true;
  } catch (error) {
    // If the hook could not store its tokens, an unknown token shows whether the current version can read the table.
    const current = new Client(UNKNOWN_TOKEN, sendToCurrent);
    const isOutage =
      error instanceof DatabaseUnavailable ||
      (error instanceof PlantStoreError && isUnavailable(await current.sendOnce(harmlessRequest(current, operation))));
    if (!isOutage) throw error;
    const message = 'The database is unavailable, so the new version is not checked.';
    console.warn({ message, problem: redacted((error as Error).message) });
    return true;
  } finally {
    for (const { digest, name } of items) {
      await dynamoDb.send('DeleteItem', { TableName, Key: { digest } }, context).catch((error: Error) => {
        console.error({ message: `The token ${name.S} could not be deleted; it expires.`, problem: error.message });
      });
    }
  }
}

/**
 * Returns the ARNs of the current version and of the version to deploy, or undefined for a rollback.
 *
 * Source: "AppSpec 'resources' section for an AWS Lambda deployment".
 */
async function versionsOf(deploymentId: string): Promise<{ current: string; target: string } | undefined> {
  const { deploymentInfo } = await codeDeploy.send(new GetDeploymentCommand({ deploymentId }));
  const { appSpecContent, string } = deploymentInfo?.revision ?? {};
  const appSpec = appSpecContent?.content ?? string?.content ?? '';
  const current = versionIn(appSpec, 'currentversion');
  const target = versionIn(appSpec, 'targetversion');
  // Each release publishes a version with a higher number, so a lower target is a rollback.
  if (deploymentInfo?.creator === 'codeDeployRollback' || target <= current) return undefined;
  const functionArn = environmentVariable('FUNCTION_ARN');
  return { current: `${functionArn}:${current}`, target: `${functionArn}:${target}` };
}

/** Returns a version number from an AppSpec, which is JSON or YAML with names in any case. */
function versionIn(appSpec: string, name: string): number {
  const [, version] = new RegExp(`${name}"?\\s*:\\s*"?(\\d+)`, 'i').exec(appSpec) ?? [];
  if (version === undefined) throw new Error(`The deployment has no ${name} in its AppSpec: ${appSpec}`);
  return Number(version);
}

/** Repeats requests while the database is unavailable. Throws DatabaseUnavailable if it is for both versions. */
function retryWhileUnavailable(sendToTarget: Send, sendToCurrent: Send, signal: AbortSignal): Send {
  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      const response = await sendToTarget(request);
      if (!isUnavailable(response)) return response;
      if (attempt === MAX_ATTEMPTS) {
        const current = await sendToCurrent(request);
        if (isUnavailable(current)) throw new DatabaseUnavailable(response.text);
        throw new Error(`${response.text}; the current version responds ${current.text}`);
      }
      await sleep(PAUSE_MS, undefined, { signal });
    }
  };
}

/** True if the database is unavailable. False if only the identity provider is, because most checks do not need it. */
function isUnavailable({ text }: RawResponse): boolean {
  return /"error":(429|503|504)\b/.test(text) && !text.includes(PROVIDER_UNAVAILABLE);
}

/**
 * Replaces texts that may be a token, a part of one, its digest, or an event in base64. A broken version may have them in
 * its response.
 */
function redacted(text: string): string {
  return text.replaceAll(/[\w+/=-]{32,}/g, '...').slice(0, 500);
}
