import { isDeepStrictEqual } from 'node:util';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { LifecycleEvent } from '../../operate/smoke/before-traffic.ts';
import type { Answered, Sent } from './stand-in-service.ts';

export const VERSION_ARN = 'arn:aws:lambda:us-east-1:000000000000:function:plants:7';
export const LIFECYCLE_EVENT: LifecycleEvent = {
  DeploymentId: 'd-ABCDEF123',
  LifecycleEventHookExecutionId: 'the-execution-id',
};

/** What Lambda and CodeDeploy answer to a function that asks a version and reports. */
export function releaseEndpoints(versionArn: string, invoke: (event: APIGatewayProxyEvent) => unknown) {
  const told: unknown[] = [];

  async function answerTo({ method, path, headers, body }: Sent): Promise<Answered> {
    const sent = JSON.parse(body);
    if (headers['x-amz-target'] === 'CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus') {
      told.push(sent);
      const { lifecycleEventHookExecutionId } = sent;
      return { status: 200, headers: {}, body: JSON.stringify({ lifecycleEventHookExecutionId }) };
    }
    if (`${method} ${path}` !== `POST /2015-03-31/functions/${encodeURIComponent(versionArn)}/invocations`) {
      return { status: 404, headers: {}, body: '{}' };
    }
    try {
      return { status: 200, headers: {}, body: JSON.stringify(await invoke(sent)) };
    } catch (error) {
      const { name: errorType, message: errorMessage } = error as Error;
      const headers = { 'x-amz-function-error': 'Unhandled' };
      return { status: 200, headers, body: JSON.stringify({ errorType, errorMessage }) };
    }
  }

  return {
    answerTo,
    /** The one status that CodeDeploy is told. Throws where it is told none, or another release's. */
    status(): string {
      const [only, ...others] = told as { status: string }[];
      const { DeploymentId: deploymentId, LifecycleEventHookExecutionId: lifecycleEventHookExecutionId } =
        LIFECYCLE_EVENT;
      const expected = { deploymentId, lifecycleEventHookExecutionId, status: only?.status };
      if (!only || others.length > 0 || !isDeepStrictEqual(only, expected)) {
        throw new Error(`CodeDeploy was told ${JSON.stringify(told)}.`);
      }
      return only.status;
    },
  };
}
