import {
  CodeDeployClient,
  GetDeploymentCommand,
  PutLifecycleEventHookExecutionStatusCommand,
} from '@aws-sdk/client-codedeploy';
import { LambdaClient } from '@aws-sdk/client-lambda';
import type { Context } from 'aws-lambda';
import { newToken } from '../shared/access-tokens/token.ts';
import { DynamoDb } from '../shared/dynamodb/dynamodb.ts';
import { environmentVariable } from '../shared/environment-variable.ts';
import { checksOfFunction } from './all-checks.ts';
import { runChecks } from './check.ts';
import { Client } from './client.ts';
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

/** Returns true if the version passes the checks, or if the deployment is a rollback. */
async function mayReceiveTraffic(deploymentId: string, context: Context): Promise<boolean> {
  const versionArn = await versionToCheck(deploymentId);
  if (versionArn === undefined) {
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
  const items = [valid.item, expired.item];
  try {
    for (const Item of items) await dynamoDb.send('PutItem', { TableName, Item }, context);
    const client = new Client(valid.token, functionSender(lambda, versionArn, operation.path, timeout));
    for await (const { title, problem } of runChecks(checks, client)) {
      if (problem === undefined) continue;
      console.error({ check: title, problem: timeout.aborted ? 'the check did not end in time' : redacted(problem) });
      return false;
    }
    console.info({ operation: operation.operationId, versionArn, passed: checks.length });
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
 * Returns the ARN of the new version, or undefined for a rollback.
 *
 * Source: "AppSpec 'resources' section for an AWS Lambda deployment".
 */
async function versionToCheck(deploymentId: string): Promise<string | undefined> {
  const { deploymentInfo } = await codeDeploy.send(new GetDeploymentCommand({ deploymentId }));
  const { appSpecContent, string } = deploymentInfo?.revision ?? {};
  const appSpec = appSpecContent?.content ?? string?.content ?? '';
  const current = versionIn(appSpec, 'currentversion');
  const target = versionIn(appSpec, 'targetversion');
  // Each release publishes a version with a higher number, so a lower target is a rollback.
  if (deploymentInfo?.creator === 'codeDeployRollback' || target <= current) return undefined;
  return `${environmentVariable('FUNCTION_ARN')}:${target}`;
}

/** Returns a version number from an AppSpec, which is JSON or YAML with names in any case. */
function versionIn(appSpec: string, name: string): number {
  const [, version] = new RegExp(`${name}"?\\s*:\\s*"?(\\d+)`, 'i').exec(appSpec) ?? [];
  if (version === undefined) throw new Error(`The deployment has no ${name} in its AppSpec: ${appSpec}`);
  return Number(version);
}

/**
 * Replaces texts that may be a token, a part of one, its digest, or an event in base64. A broken version may have them in
 * its response.
 */
function redacted(text: string): string {
  return text.replaceAll(/[\w+/=-]{32,}/g, '...').slice(0, 500);
}
