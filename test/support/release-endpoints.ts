import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect } from 'vitest';
import type { FakeResponse, ReceivedRequest } from './fake-service.ts';

export const VERSION_ARN = 'arn:aws:lambda:us-east-1:000000000000:function:plants:7';
/** "AppSpec 'hooks' section for an AWS Lambda deployment", CodeDeploy User Guide. */
export const LIFECYCLE_EVENT = { DeploymentId: 'd-ABCDEF123', LifecycleEventHookExecutionId: 'the-execution-id' };

/** Fake endpoints of Lambda and CodeDeploy for a pre-traffic hook. `invoke` runs the new version of the function. */
export function releaseEndpoints(invoke: (event: APIGatewayProxyEvent) => unknown, creator = 'user') {
  const reports: { status: string }[] = [];

  async function respond({ method, path, headers, body }: ReceivedRequest): Promise<FakeResponse> {
    const notFound = { status: 404, headers: {}, body: '{}' };
    // A test that waits for DynamoDB Local can send a GET to this port, if the port was free before.
    if (method !== 'POST') return notFound;
    const sent = JSON.parse(body);
    const action = headers['x-amz-target']?.toString().replace('CodeDeploy_20141006.', '');
    // "GetDeployment", CodeDeploy API Reference: the content of appSpecContent is always null.
    if (action === 'GetDeployment' && sent.deploymentId === LIFECYCLE_EVENT.DeploymentId) {
      const revision = { revisionType: 'AppSpecContent', appSpecContent: { content: null, sha256: '0'.repeat(64) } };
      return { status: 200, headers: {}, body: JSON.stringify({ deploymentInfo: { creator, revision } }) };
    }
    // "PutLifecycleEventHookExecutionStatus", CodeDeploy API Reference.
    if (action === 'PutLifecycleEventHookExecutionStatus') {
      reports.push(sent);
      const { lifecycleEventHookExecutionId } = sent;
      return { status: 200, headers: {}, body: JSON.stringify({ lifecycleEventHookExecutionId }) };
    }
    // "Invoke", Lambda API Reference.
    const versionPath = `/2015-03-31/functions/${encodeURIComponent(VERSION_ARN)}/invocations`;
    if (path !== versionPath) return notFound;
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
