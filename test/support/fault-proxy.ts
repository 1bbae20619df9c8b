import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What goes wrong with the response to a call to the database. */
export type Fault =
  | 'hangs'
  | 'stalls in the middle of its answer'
  | 'drips'
  | 'resets the connection'
  | 'answers 500'
  | 'throttles'
  | 'refuses access'
  | 'answers 503 in HTML'
  | 'answers 200 in HTML'
  | 'answers half a JSON document'
  | 'answers nothing';

/** Which calls go wrong: the first so many of one kind, before or after the engine has carried them out. */
export interface Plan {
  /** ACTION TABLE, as in `PutItem DataPlants8CBE6BEF`. */
  call: string;
  fault: Fault;
  times: number;
  applied: boolean;
}

/** A DynamoDB whose responses go wrong as planned, in front of a real engine. */
export async function startFaultProxy(engine: string) {
  let plans: Plan[] = [];
  const calls: string[] = [];

  async function forward(request: IncomingMessage, body: Buffer) {
    const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
    return fetch(engine, { method: 'POST', headers: headers as Record<string, string>, body: new Uint8Array(body) });
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const [, action] = String(request.headers['x-amz-target']).split('.');
    const call = `${action} ${JSON.parse(String(body)).TableName}`;
    calls.push(call);
    const plan = plans.find((candidate) => candidate.call === call && candidate.times > 0);
    if (!plan) {
      const answered = await forward(request, body);
      response.writeHead(answered.status, { 'content-type': AWS_JSON });
      response.end(await answered.text());
      return;
    }
    plan.times -= 1;
    const text = plan.applied
      ? await (await forward(request, body)).text()
      : '{"ConsumedCapacity":{"CapacityUnits":1}}';
    misbehave(plan.fault, text, response);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The calls, in order, each as ACTION TABLE. */
    calls,
    /** From now on these calls go wrong, and no others. */
    plan(...next: Plan[]): void {
      plans = next.map((plan) => ({ ...plan }));
    },
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

const AWS_JSON = 'application/x-amz-json-1.0';
const failure = (name: string) => JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: '' });
const half = (text: string) => text.slice(0, Math.ceil(text.length / 2));

/** The faulty responses: each with its status, its type, and the body that it has in place of the right one. */
const responses: Partial<Record<Fault, [status: number, type: string, body: (text: string) => string]>> = {
  'answers 500': [500, AWS_JSON, () => failure('InternalServerError')],
  throttles: [400, AWS_JSON, () => failure('ThrottlingException')],
  'refuses access': [400, AWS_JSON, () => failure('AccessDeniedException')],
  'answers 503 in HTML': [503, 'text/html', () => '<html>busy</html>'],
  'answers 200 in HTML': [200, 'text/html', () => '<html>welcome</html>'],
  'answers half a JSON document': [200, AWS_JSON, half],
  'answers nothing': [200, AWS_JSON, () => ''],
};

function misbehave(fault: Fault, text: string, response: ServerResponse): void {
  const [status, type, body] = responses[fault] ?? [];
  if (status) response.writeHead(status, { 'content-type': type }).end(body?.(text));
  if (fault === 'resets the connection') response.socket?.resetAndDestroy();
  if (fault === 'stalls in the middle of its answer') {
    response.writeHead(200, { 'content-type': AWS_JSON, 'content-length': text.length }).write(half(text));
  }
  if (fault === 'drips') {
    response.writeHead(200, { 'content-type': AWS_JSON, 'content-length': 1000 });
    const timer = setInterval(() => response.write(' '), 200);
    response.once('close', () => clearInterval(timer));
  }
}
