import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AttributeValue, KeysAndAttributes } from '@aws-sdk/client-dynamodb';
import { type FakeResponse, startFakeService } from './fake-service.ts';
import { listen } from './listen.ts';

const AWS_JSON = 'application/x-amz-json-1.0';

/** The action of a request to DynamoDB, as in `PutItem`. */
const actionOf = (headers: IncomingHttpHeaders) => String(headers['x-amz-target']).split('.')[1] ?? '';

async function forward(endpoint: string, headers: IncomingHttpHeaders, body: string): Promise<FakeResponse> {
  const { host: _, connection: __, 'content-length': ___, ...passed } = headers;
  const response = await fetch(endpoint, { method: 'POST', headers: passed as Record<string, string>, body });
  return { status: response.status, headers: { 'content-type': AWS_JSON }, body: await response.text() };
}

/** The members of a request to DynamoDB that tests read or change. */
interface Input {
  Item?: Record<string, AttributeValue>;
  ConsistentRead?: boolean;
  Limit?: number;
  RequestItems?: Record<string, KeysAndAttributes>;
}

/** Handles a request to DynamoDB. `send` sends it, changed or not, to the engine. */
export type Handle = (
  action: string,
  input: Input,
  send: (input: Input) => Promise<FakeResponse>,
) => Promise<FakeResponse>;

/** Starts a proxy in front of a DynamoDB engine until the test ends. `handle` handles each request. Returns its URL. */
export function startDynamoDbProxy({ endpoint }: { endpoint: string }, handle: Handle): Promise<string> {
  return startFakeService(({ headers, body }) =>
    handle(actionOf(headers), JSON.parse(body), (input) => forward(endpoint, headers, JSON.stringify(input))),
  );
}

/** A failure of the database, as the client sees it. */
export type Failure = 'hangs' | 'sends a byte at a time' | 'responds with 500' | 'throttles' | 'denies access';

/** Makes the next calls of one kind fail. */
export interface Plan {
  /** ACTION TABLE, as in `PutItem PlantsTable`. */
  call: string;
  failure: Failure;
  /** The number of calls that fail. */
  times: number;
  /** True if the engine carries out the call before it fails. */
  applied: boolean;
}

/** Starts a proxy in front of a DynamoDB engine. Calls fail as planned; all others are passed on. */
export async function startFailureProxy(engine: string) {
  let plan: Plan | undefined;
  const calls: string[] = [];

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const call = `${actionOf(request.headers)} ${JSON.parse(body).TableName}`;
    calls.push(call);
    if (plan?.call === call && plan.times > 0) {
      plan.times -= 1;
      if (plan.applied) await forward(engine, request.headers, body);
      return sendFailure(plan.failure, response);
    }
    const correct = await forward(engine, request.headers, body);
    response.writeHead(correct.status, correct.headers).end(correct.body);
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  return {
    endpoint: `http://${await listen(server)}`,
    /** The calls, in order, each as ACTION TABLE. */
    calls,
    /** Replaces the plan. Without a new one, no call fails. */
    plan(next?: Plan): void {
      plan = next && { ...next };
    },
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

const errorBody = (name: string) => JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: '' });

/** The complete error responses: status and body ("Error handling with DynamoDB", Amazon DynamoDB Developer Guide). */
const responses: Partial<Record<Failure, [status: number, body: string]>> = {
  'responds with 500': [500, errorBody('InternalServerError')],
  throttles: [400, errorBody('ThrottlingException')],
  'denies access': [400, errorBody('AccessDeniedException')],
};

function sendFailure(failure: Failure, response: ServerResponse): void {
  const [status, body] = responses[failure] ?? [];
  if (status) response.writeHead(status, { 'content-type': AWS_JSON }).end(body);
  if (failure === 'sends a byte at a time') {
    response.writeHead(200, { 'content-type': AWS_JSON, 'content-length': 1000 });
    const timer = setInterval(() => response.write(' '), 200);
    response.once('close', () => clearInterval(timer));
  }
}
