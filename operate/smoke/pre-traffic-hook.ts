import { setTimeout as sleep } from 'node:timers/promises';
import {
  CodeDeployClient,
  GetDeploymentCommand,
  PutLifecycleEventHookExecutionStatusCommand,
} from '@aws-sdk/client-codedeploy';
import { LambdaClient } from '@aws-sdk/client-lambda';
import type { Context } from 'aws-lambda';
import { newToken } from '../../functions/shared/access-tokens/token.ts';
import { DynamoDb } from '../../functions/shared/dynamodb/dynamodb.ts';
import { environmentVariable } from '../../functions/shared/environment-variable.ts';
import { PlantStoreError } from '../../functions/shared/errors.ts';
import { Client, type RawResponse, type SentRequest } from '../client.ts';
import { runChecks, Unavailable } from './check.ts';
import { checksOfFunction } from './checks.ts';
import { functionSender } from './function-client.ts';

/*
 * The function that CodeDeploy invokes before it moves traffic to a new version (BeforeAllowTraffic). It checks the new
 * version itself, not the gateway, with tokens of its own. If a check fails, the deployment fails.
 */

/** Source: "AppSpec 'hooks' section for an AWS Lambda deployment". */
export interface LifecycleEvent {
  DeploymentId: string;
  LifecycleEventHookExecutionId: string;
}

/** The ARNs of the version that takes the traffic now, and of the version that is about to. */
interface Versions {
  current: string;
  target: string;
}

/** Milliseconds reserved at the end of the invocation to delete the tokens and to report. */
const REPORT_MS = 20_000;
/** How often a request is repeated if only the new version finds the database unavailable. */
const MAX_RETRIES = 2;

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
  const tokens = [valid, expired];
  try {
    for (const { item } of tokens) await dynamoDb.send('PutItem', { TableName, Item: item }, context);
    return await passesChecks(versions, valid.token, expired.token, context);
  } catch (error) {
    if (!(error instanceof PlantStoreError || error instanceof Unavailable)) throw error;
    console.warn({ message: 'The database is unavailable, so the new version is not checked.', seen: error.message });
    return true;
  } finally {
    for (const { item } of tokens) {
      const { digest, name } = item;
      await dynamoDb.send('DeleteItem', { TableName, Key: { digest } }, context).catch((error: Error) => {
        logError({ message: `The token ${name.S} could not be deleted; it expires.`, seen: error.message });
      });
    }
  }
}

/** Source: "AppSpec 'resources' section for an AWS Lambda deployment". Returns nothing for a rollback. */
async function versionsOf(deploymentId: string): Promise<Versions | undefined> {
  const { deploymentInfo } = await codeDeploy.send(new GetDeploymentCommand({ deploymentId }));
  const { appSpecContent, string } = deploymentInfo?.revision ?? {};
  const appSpec = appSpecContent?.content ?? string?.content ?? '';
  const [current, target] = ['current', 'target'].map((which) => {
    const [, version] = new RegExp(`"?${which}version"?\\s*:\\s*"?(\\d+)`, 'i').exec(appSpec) ?? [];
    if (version === undefined) throw new Error(`The deployment has no ${which} version in its AppSpec: ${appSpec}`);
    return Number(version);
  }) as [number, number];
  // Each release publishes a version with a higher number.
  if (deploymentInfo?.creator === 'codeDeployRollback' || target <= current) return undefined;
  const functionArn = environmentVariable('FUNCTION_ARN');
  return { current: `${functionArn}:${current}`, target: `${functionArn}:${target}` };
}

/** Runs the checks until one fails, or the time is up. A version that fails one is sent nothing more. */
async function passesChecks(versions: Versions, token: string, expiredToken: string, context: Context) {
  const operationId = environmentVariable('OPERATION_ID');
  const { operation, checks } = checksOfFunction(operationId, {
    expiredToken,
    // With "*", pages of any origin may call the API.
    allowedOrigin: process.env['ALLOW_ORIGINS']?.split(',')[0]?.replace('*', 'https://app.example.com'),
    tokenIssuer: process.env['TOKEN_ISSUER'],
    tokenAudience: process.env['TOKEN_AUDIENCE']?.split(',')[0],
  });
  const client = new Client(token, senderTo(versions, functionSender(lambda, operation.path)));
  const results = runChecks(checks, client);
  const timeUp = sleep(context.getRemainingTimeInMillis() - REPORT_MS, 'time up' as const, { ref: false });
  for (let passed = 0; ; passed += 1) {
    const next = await Promise.race([results.next(), timeUp]);
    if (next === 'time up') {
      logError({ check: checks[passed]?.title, seen: 'the time was up before there was a response' });
      return false;
    }
    if (next.done) {
      console.info({ operation: operationId, version: versions.target, passed });
      return true;
    }
    const { title, state, seen = '' } = next.value;
    if (state === 'failed') {
      logError({ check: title, seen });
      return false;
    }
  }
}

/**
 * Sends requests to the new version. If it finds the database unavailable, the current version decides: if that one
 * does too, throws Unavailable; otherwise repeats the request, and returns what the new version responds.
 */
function senderTo({ current, target }: Versions, send: ReturnType<typeof functionSender>) {
  return async (request: SentRequest): Promise<RawResponse> => {
    for (let retries = 0; ; retries += 1) {
      const response = await send(target, request);
      if (!isUnavailable(response) || retries === MAX_RETRIES) return response;
      if (isUnavailable(await send(current, request))) throw new Unavailable(response.text);
    }
  };
}

/** Whether a response says that the database, or the identity provider, is unavailable. */
function isUnavailable({ text }: RawResponse): boolean {
  return /"error":(429|503|504)\b/.test(text);
}

/** Logs without what may be a token, a part of one, its digest, or an event in base64: a broken version may show them. */
function logError(line: { check?: string | undefined; message?: string; seen: string }): void {
  console.error({ ...line, seen: line.seen.replaceAll(/[\w+/=]{32,}/g, '...') });
}
