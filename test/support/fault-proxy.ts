import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What goes wrong with the answer to one call to the database. */
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

/** Which calls go wrong: of one kind the first so many, before or after the engine has carried them out. */
export interface Plan {
  /** ACTION TABLE, as in `PutItem DataPlants8CBE6BEF`. */
  call: string;
  fault: Fault;
  times: number;
  applied: boolean;
}

/** A DynamoDB whose answers go wrong as planned, in front of a real engine. */
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
      response.writeHead(answered.status, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(await answered.text());
      return;
    }
    plan.times -= 1;
    const text = plan.applied
      ? await (await forward(request, body)).text()
      : '{"ConsumedCapacity":{"CapacityUnits":1}}';
    await misbehave(plan.fault, text, response);
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
    /** From now on these, and nothing else, go wrong. */
    plan(...next: Plan[]): void {
      plans = next.map((plan) => ({ ...plan }));
    },
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

const JSON_TYPE = { 'content-type': 'application/x-amz-json-1.0' };

async function misbehave(fault: Fault, text: string, response: ServerResponse): Promise<void> {
  const half = text.slice(0, Math.ceil(text.length / 2));
  const failure = (name: string) => JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: '' });
  switch (fault) {
    case 'hangs':
      return;
    case 'stalls in the middle of its answer':
      response.writeHead(200, { ...JSON_TYPE, 'content-length': text.length }).write(half);
      return;
    case 'drips': {
      response.writeHead(200, { ...JSON_TYPE, 'content-length': 1000 });
      const timer = setInterval(() => response.write(' '), 200);
      response.once('close', () => clearInterval(timer));
      return;
    }
    case 'resets the connection':
      response.socket?.resetAndDestroy();
      return;
    case 'answers 500':
      response.writeHead(500, JSON_TYPE).end(failure('InternalServerError'));
      return;
    case 'throttles':
      response.writeHead(400, JSON_TYPE).end(failure('ThrottlingException'));
      return;
    case 'refuses access':
      response.writeHead(400, JSON_TYPE).end(failure('AccessDeniedException'));
      return;
    case 'answers 503 in HTML':
      response.writeHead(503, { 'content-type': 'text/html' }).end('<html>busy</html>');
      return;
    case 'answers 200 in HTML':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>welcome</html>');
      return;
    case 'answers half a JSON document':
      response.writeHead(200, JSON_TYPE).end(half);
      return;
    case 'answers nothing':
      response.writeHead(200, JSON_TYPE).end();
  }
}
