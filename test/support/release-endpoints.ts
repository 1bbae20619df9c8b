import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect } from 'vitest';
import type { LifecycleEvent } from '../../checks/pre-traffic-hook.ts';
import type { FakeResponse, Sent } from './fake-service.ts';

export const FUNCTION_ARN = 'arn:aws:lambda:us-east-1:000000000000:function:plants';
/** The current version, and the one that is about to take the traffic. */
export const CURRENT = 6;
export const TARGET = 7;
export const VERSION_ARN = `${FUNCTION_ARN}:${TARGET}`;
export const LIFECYCLE_EVENT: LifecycleEvent = {
  DeploymentId: 'd-ABCDEF123',
  LifecycleEventHookExecutionId: 'the-execution-id',
};

/** What a hook needs of what CloudFormation writes ("AppSpec 'resources' section for an AWS Lambda deployment"). */
const APP_SPEC = {
  version: 0,
  Resources: [{ plants: { Properties: { CurrentVersion: String(CURRENT), TargetVersion: String(TARGET) } } }],
};
/** What CodeDeploy knows of a deployment. */
export const DEPLOYMENT = {
  creator: 'user',
  revision: { revisionType: 'AppSpecContent', appSpecContent: { content: JSON.stringify(APP_SPEC) } },
};

/** The endpoints of Lambda and CodeDeploy for a pre-traffic hook. `invoke` is what the versions of the function do. */
export function releaseEndpoints(
  functionArn: string,
  invoke: (event: APIGatewayProxyEvent, version: number) => unknown,
  deployment: object = DEPLOYMENT,
) {
  const told: { status: string }[] = [];

  async function answerTo({ method, path, headers, body }: Sent): Promise<FakeResponse> {
    const sent = JSON.parse(body);
    const action = headers['x-amz-target']?.toString().replace('CodeDeploy_20141006.', '');
    if (action === 'GetDeployment' && sent.deploymentId === LIFECYCLE_EVENT.DeploymentId) {
      return { status: 200, headers: {}, body: JSON.stringify({ deploymentInfo: deployment }) };
    }
    if (action === 'PutLifecycleEventHookExecutionStatus') {
      told.push(sent);
      const { lifecycleEventHookExecutionId } = sent;
      return { status: 200, headers: {}, body: JSON.stringify({ lifecycleEventHookExecutionId }) };
    }
    const version = [CURRENT, TARGET].find(
      (each) => path === `/2015-03-31/functions/${encodeURIComponent(`${functionArn}:${each}`)}/invocations`,
    );
    if (method !== 'POST' || version === undefined) return { status: 404, headers: {}, body: '{}' };
    try {
      return { status: 200, headers: {}, body: JSON.stringify(await invoke(sent, version)) };
    } catch (error) {
      const { name: errorType, message: errorMessage } = error as Error;
      const headers = { 'x-amz-function-error': 'Unhandled' };
      return { status: 200, headers, body: JSON.stringify({ errorType, errorMessage }) };
    }
  }

  return {
    answerTo,
    /** The status that CodeDeploy is told. Fails unless it is told one, of this release. */
    status(): string {
      const { DeploymentId: deploymentId, LifecycleEventHookExecutionId: lifecycleEventHookExecutionId } =
        LIFECYCLE_EVENT;
      expect(told).toEqual([{ deploymentId, lifecycleEventHookExecutionId, status: expect.any(String) }]);
      return String(told[0]?.status);
    },
  };
}
