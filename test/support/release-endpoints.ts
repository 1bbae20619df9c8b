import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect } from 'vitest';
import type { LifecycleEvent } from '../../functions/pre-traffic-hook/index.ts';
import type { FakeResponse, ReceivedRequest } from './fake-service.ts';

export const FUNCTION_ARN = 'arn:aws:lambda:us-east-1:000000000000:function:plants';
/** The current version, and the new one that is released. */
export const CURRENT = 6;
export const TARGET = 7;
export const VERSION_ARN = `${FUNCTION_ARN}:${TARGET}`;
export const LIFECYCLE_EVENT: LifecycleEvent = {
  DeploymentId: 'd-ABCDEF123',
  LifecycleEventHookExecutionId: 'the-execution-id',
};

/** The part of CloudFormation's AppSpec that the hook reads ("AppSpec 'resources' section for an AWS Lambda deployment"). */
const APP_SPEC = {
  version: 0,
  Resources: [{ plants: { Properties: { CurrentVersion: String(CURRENT), TargetVersion: String(TARGET) } } }],
};
/** A deployment, as CodeDeploy describes it. */
export const DEPLOYMENT = {
  creator: 'user',
  revision: { revisionType: 'AppSpecContent', appSpecContent: { content: JSON.stringify(APP_SPEC) } },
};

/** Fake endpoints of Lambda and CodeDeploy for a pre-traffic hook. `invoke` runs the new version of the function. */
export function releaseEndpoints(
  functionArn: string,
  invoke: (event: APIGatewayProxyEvent) => unknown,
  deployment: object = DEPLOYMENT,
) {
  const reports: { status: string }[] = [];

  async function respond({ method, path, headers, body }: ReceivedRequest): Promise<FakeResponse> {
    const sent = JSON.parse(body);
    const action = headers['x-amz-target']?.toString().replace('CodeDeploy_20141006.', '');
    if (action === 'GetDeployment' && sent.deploymentId === LIFECYCLE_EVENT.DeploymentId) {
      return { status: 200, headers: {}, body: JSON.stringify({ deploymentInfo: deployment }) };
    }
    if (action === 'PutLifecycleEventHookExecutionStatus') {
      reports.push(sent);
      const { lifecycleEventHookExecutionId } = sent;
      return { status: 200, headers: {}, body: JSON.stringify({ lifecycleEventHookExecutionId }) };
    }
    const versionPath = `/2015-03-31/functions/${encodeURIComponent(`${functionArn}:${TARGET}`)}/invocations`;
    if (method !== 'POST' || path !== versionPath) return { status: 404, headers: {}, body: '{}' };
    try {
      return { status: 200, headers: {}, body: JSON.stringify(await invoke(sent)) };
    } catch (error) {
      const { name: errorType, message: errorMessage } = error as Error;
      const headers = { 'x-amz-function-error': 'Unhandled' };
      return { status: 200, headers, body: JSON.stringify({ errorType, errorMessage }) };
    }
  }

  return {
    respond,
    /** The status that the hook reported. Fails unless it reported exactly one, for this deployment. */
    status(): string {
      const { DeploymentId: deploymentId, LifecycleEventHookExecutionId: lifecycleEventHookExecutionId } =
        LIFECYCLE_EVENT;
      expect(reports).toEqual([{ deploymentId, lifecycleEventHookExecutionId, status: expect.any(String) }]);
      return String(reports[0]?.status);
    },
  };
}
