import type { IncomingHttpHeaders } from 'node:http';
import { afterAll } from 'vitest';
import { forward, startFakeService, startServer } from './fake-service.ts';

/** The action of a request to DynamoDB, as in `PutItem`. */
const actionOf = (sent: IncomingHttpHeaders) => String(sent['x-amz-target']).split('.')[1];

/** Starts a proxy in front of a DynamoDB engine until the test ends. Each page of a Scan has one item. */
export async function startPagingProxy({ endpoint }: { endpoint: string }) {
  const scans: { ConsistentRead?: boolean }[] = [];
  const url = await startFakeService((sent) => {
    if (actionOf(sent.headers) !== 'Scan') return forward(endpoint, sent);
    const input = { ...JSON.parse(sent.body), Limit: 1 };
    scans.push(input);
    return forward(endpoint, { ...sent, bytes: Buffer.from(JSON.stringify(input)) });
  });
  return { url, scans };
}

/** An error response ("Error handling with DynamoDB", Amazon DynamoDB Developer Guide). */
const databaseError = (status: number, __type: string) => ({ status, headers: {}, body: JSON.stringify({ __type }) });

/** The failures of the database, as the client sees them. */
const failures = {
  hangs: () => new Promise<never>(() => {}),
  'responds with 500': () => databaseError(500, 'InternalServerError'),
  throttles: () => databaseError(400, 'ThrottlingException'),
};

/** Makes all calls of one kind fail after the engine has carried them out. `call` is as in `PutItem PlantsTable`. */
export type Plan = { call: string; failure: keyof typeof failures };

/** Starts a proxy in front of a DynamoDB engine until the end of a test file. Calls fail as planned. */
export async function startFailureProxy(endpoint: string) {
  let current: Plan | undefined;
  /** The calls, in order, each as ACTION TABLE. */
  const calls: string[] = [];
  const { url, close } = await startServer(async (sent) => {
    const call = `${actionOf(sent.headers)} ${JSON.parse(sent.body).TableName}`;
    calls.push(call);
    // If the engine is closed, there is no response.
    const response = await forward(endpoint, sent).catch(() => undefined);
    return current?.call === call ? failures[current.failure]() : response;
  });
  afterAll(close);
  return {
    endpoint: url,
    calls,
    /** Replaces the plan. Without a new one, no call fails. */
    plan(next?: Plan): void {
      current = next;
    },
  };
}
