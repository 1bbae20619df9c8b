import type { IncomingHttpHeaders } from 'node:http';
import { databaseError, type FakeResponse, forward, startFakeService, startServer } from './fake-service.ts';

/** The action of a request to DynamoDB, as in `PutItem`. */
const actionOf = (sent: IncomingHttpHeaders) => String(sent['x-amz-target']).split('.')[1] ?? '';

/** The members of a request to DynamoDB that tests read or change. */
interface Input {
  ConsistentRead?: boolean;
  Limit?: number;
}

/** Handles a request to DynamoDB. `send` sends it, changed or not, to the engine. */
type Handle = (action: string, input: Input, send: (input: Input) => Promise<FakeResponse>) => Promise<FakeResponse>;

/** Starts a proxy in front of a DynamoDB engine until the test ends. `handle` handles each request. Returns its URL. */
export function startDynamoDbProxy({ endpoint }: { endpoint: string }, handle: Handle): Promise<string> {
  return startFakeService((sent) =>
    handle(actionOf(sent.headers), JSON.parse(sent.body), (input) =>
      forward(endpoint, { ...sent, bytes: Buffer.from(JSON.stringify(input)) }),
    ),
  );
}

/** The failures of the database, as the client sees them. */
const failures = {
  hangs: () => new Promise<never>(() => {}),
  'responds with 500': () => databaseError(500, 'InternalServerError'),
  throttles: () => databaseError(400, 'ThrottlingException'),
};

/** Makes the next calls of one kind fail. */
export interface Plan {
  /** ACTION TABLE, as in `PutItem PlantsTable`. */
  call: string;
  failure: keyof typeof failures;
  /** The number of calls that fail. */
  times: number;
  /** True if the engine carries out the call before it fails. */
  applied: boolean;
}

/** Starts a proxy in front of a DynamoDB engine. Calls fail as planned; all others are passed on. */
export async function startFailureProxy(endpoint: string) {
  let current: Plan | undefined;
  /** The calls, in order, each as ACTION TABLE. */
  const calls: string[] = [];
  const { url, close } = await startServer(async (sent) => {
    const call = `${actionOf(sent.headers)} ${JSON.parse(sent.body).TableName}`;
    calls.push(call);
    const plan = current?.call === call && current.times > 0 ? current : undefined;
    if (plan) plan.times -= 1;
    // If the engine is closed, there is no response.
    const correct = !plan || plan.applied ? await forward(endpoint, sent).catch(() => undefined) : undefined;
    return plan ? failures[plan.failure]() : correct;
  });
  return {
    endpoint: url,
    calls,
    /** Replaces the plan. Without a new one, no call fails. */
    plan(next?: Plan): void {
      current = next && { ...next };
    },
    close,
  };
}
