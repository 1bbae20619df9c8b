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
import { PlantStoreError } from '../functions/shared/errors.ts';
import { type Check, runChecks, Unavailable } from './check.ts';
import { checksOfFunction } from './checks.ts';
import { Client, type RawResponse, type Send } from './client.ts';
import { requestOf, UNKNOWN_TOKEN } from './contract-checks.ts';
import { functionSender } from './function-sender.ts';

/*
 * The function that CodeDeploy invokes before it moves traffic to a new version (BeforeAllowTraffic). It checks the new
 * version itself, not the gateway, with tokens of its own. If a check fails, the deployment fails.
 */

/** Source: "AppSpec 'hooks' section for an AWS Lambda deployment". */
export interface LifecycleEvent {
  DeploymentId: string;
  LifecycleEventHookExecutionId: string;
}

/** Milliseconds reserved at the end of the invocation to delete the tokens and to report. */
const REPORT_MS = 20_000;
/** How often a request is sent if the new version finds the database unavailable, and the pause between two times. */
const MAX_ATTEMPTS = 5;
const PAUSE_MS = 2000;

const dynamoDb = new DynamoDb();
// Lambda throttles requests beyond the account's concurrency, which may be 10 in a new account ("Lambda quotas").
const lambda = new LambdaClient({ maxAttempts: 10 });
// By default the client waits for ever, and CodeDeploy would wait for an hour.
const codeDeploy = new CodeDeployClient({
  requestHandler: { connectionTimeout: 3000, requestTimeout: 3000, throwOnRequestTimeout: true },
});

/** Reports to CodeDeploy whether the new version may take traffic. Throws only if the report fails. */
export async function handler(event: LifecycleEvent, context: Context): Promise<void> {
  const { DeploymentId: deploymentId, LifecycleEventHookExecutionId: lifecycleEventHookExecutionId } = event;
  const passed = await mayTakeTraffic(deploymentId, context).catch((error: Error) => {
    logError({ message: 'The new version could not be checked.', seen: `${error.name}: ${error.message}` });
    return false;
  });
  const status = passed ? 'Succeeded' : 'Failed';
  await codeDeploy.send(
    new PutLifecycleEventHookExecutionStatusCommand({ deploymentId, lifecycleEventHookExecutionId, status }),
  );
}

/**
 * A version may take traffic if it passes the checks, if the deployment is a rollback, or if the database is unavailable
 * to the current version too: a fix must not wait for it.
 */
async function mayTakeTraffic(deploymentId: string, context: Context): Promise<boolean> {
  const versions = await versionsOf(deploymentId);
  if (!versions) {
    console.info({ message: 'A rollback is not checked.', deploymentId });
    return true;
  }
  const TableName = environmentVariable('ACCESS_TOKENS_TABLE_NAME');
  const now = Math.floor(Date.now() / 1000);
  // A token that cannot be deleted must not outlive this function.
  const valid = newToken(`release-${deploymentId}`, now, now + Math.ceil(context.getRemainingTimeInMillis() / 1000));
  const expired = newToken(`release-${deploymentId}-expired`, now - 7200, now - 3600);
  const { operation, checks } = checksOfFunction(environmentVariable('OPERATION_ID'), {
    expiredToken: expired.token,
    // With "*", pages of any origin may call the API.
    allowedOrigin: process.env['ALLOW_ORIGINS']?.split(',')[0]?.replace('*', 'https://app.example.com'),
    tokenIssuer: process.env['TOKEN_ISSUER'],
    tokenAudience: process.env['TOKEN_AUDIENCE']?.split(',')[0],
    tokenScope: process.env['TOKEN_SCOPE'],
  });
  const timeUp = AbortSignal.timeout(context.getRemainingTimeInMillis() - REPORT_MS);
  const send = functionSender(lambda, timeUp);
  const sendToCurrent: Send = (request) => send(versions.current, operation.path, request);
  const sendToTarget: Send = (request) => send(versions.target, operation.path, request);
  const put: (typeof valid)[] = [];
  try {
    for (const token of [valid, expired]) {
      put.push(token);
      await dynamoDb.send('PutItem', { TableName, Item: token.item }, context);
    }
    const client = new Client(valid.token, whileAvailable(sendToTarget, sendToCurrent, timeUp));
    const passed = await passedChecks(checks, client, timeUp);
    if (passed === undefined) return false;
    console.info({ operation: operation.operationId, version: versions.target, passed });
    return true;
  } catch (error) {
    const unknown = new Client(UNKNOWN_TOKEN, sendToCurrent);
    const isOutage =
      error instanceof Unavailable ||
      (error instanceof PlantStoreError && isUnavailable(await unknown.sendOnce(requestOf(unknown, operation))));
    if (!isOutage) throw error;
    const message = 'The database is unavailable, so the new version is not checked.';
    console.warn({ message, seen: redacted((error as Error).message) });
    return true;
  } finally {
    for (const { item } of put) {
      const { digest, name } = item;
      await dynamoDb.send('DeleteItem', { TableName, Key: { digest } }, context).catch((error: Error) => {
        logError({ message: `The token ${name.S} could not be deleted; it expires.`, seen: error.message });
      });
    }
  }
}

/**
 * The ARNs of the version that takes the traffic now, and of the version that is about to; nothing for a rollback.
 *
 * Source: "AppSpec 'resources' section for an AWS Lambda deployment".
 */
async function versionsOf(deploymentId: string): Promise<{ current: string; target: string } | undefined> {
  const { deploymentInfo } = await codeDeploy.send(new GetDeploymentCommand({ deploymentId }));
  const { appSpecContent, string } = deploymentInfo?.revision ?? {};
  const appSpec = appSpecContent?.content ?? string?.content ?? '';
  const current = versionIn(appSpec, 'currentversion');
  const target = versionIn(appSpec, 'targetversion');
  // Each release publishes a version with a higher number.
  if (deploymentInfo?.creator === 'codeDeployRollback' || target <= current) return undefined;
  const functionArn = environmentVariable('FUNCTION_ARN');
  return { current: `${functionArn}:${current}`, target: `${functionArn}:${target}` };
}

/** The AppSpec is JSON or YAML, its names in any case. */
function versionIn(appSpec: string, name: string): number {
  const [, version] = new RegExp(`${name}"?\\s*:\\s*"?(\\d+)`, 'i').exec(appSpec) ?? [];
  if (version === undefined) throw new Error(`The deployment has no ${name} in its AppSpec: ${appSpec}`);
  return Number(version);
}

/** Repeats requests for which a version finds the database unavailable. Throws Unavailable if the current one does too. */
function whileAvailable(sendToTarget: Send, sendToCurrent: Send, signal: AbortSignal): Send {
  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      const response = await sendToTarget(request);
      if (!isUnavailable(response)) return response;
      const current = await sendToCurrent(request);
      if (attempt === MAX_ATTEMPTS) {
        if (isUnavailable(current)) throw new Unavailable(response.text);
        throw new Error(`${response.text}; the current version responds ${current.text}`);
      }
      await sleep(PAUSE_MS, undefined, { signal });
    }
  };
}

/** Runs the checks until one fails: a broken version is sent nothing more. Returns how many passed, if all did. */
async function passedChecks(checks: Check[], client: Client, timeUp: AbortSignal): Promise<number | undefined> {
  let passed = 0;
  for await (const { title, state, seen = '' } of runChecks(checks, client)) {
    if (state === 'failed') {
      logError({ check: title, seen: timeUp.aborted ? 'the check did not end in time' : seen });
      return undefined;
    }
    passed += 1;
  }
  return passed;
}

/** True if the database is unavailable; false if only the identity provider is, since most checks do not need it. */
function isUnavailable({ text }: RawResponse): boolean {
  return /"error":(429|503|504)\b/.test(text) && !text.includes('identity provider');
}

/** Logs an error, without what a broken version may show of a token. */
function logError(line: { check?: string; message?: string; seen: string }): void {
  console.error({ ...line, seen: redacted(line.seen) });
}

/** A text without what may be a token, a part of one, its digest, or an event in base64. */
function redacted(text: string): string {
  return text.slice(0, 500).replaceAll(/[\w+/=-]{32,}/g, '...');
}
