import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const CLIENT = join(import.meta.dirname, 'node_modules/aws-lambda-ric/index.mjs');
const VERSION = '/2018-06-01/runtime';

export type Outcome = { response: string } | { error: Record<string, unknown> };

/**
 * AWS's runtime client with a bundle, on a Runtime API that serves it one event at a time
 * ("Using the Lambda runtime API for custom runtimes").
 */
export async function startRuntime(taskRoot: string, environment: Record<string, string>) {
  let next: ServerResponse | undefined;
  let nextAsked = Promise.withResolvers<void>();
  const initError = Promise.withResolvers<Record<string, unknown>>();
  const outcomes = new Map<string, PromiseWithResolvers<Outcome>>();

  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString();
    const path = (request.url ?? '').slice(VERSION.length);
    if (path === '/invocation/next') {
      next = response;
      nextAsked.resolve();
      return;
    }
    if (path === '/init/error') initError.resolve(JSON.parse(body));
    const [, id = '', outcome] = /^\/invocation\/(.+)\/(response|error)$/.exec(path) ?? [];
    outcomes.get(id)?.resolve(outcome === 'response' ? { response: body } : { error: JSON.parse(body) });
    response.writeHead(202).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const child: ChildProcess = spawn(process.execPath, [CLIENT], {
    env: {
      ...environment,
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_LAMBDA_FUNCTION_NAME: 'create-plant',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
      AWS_LAMBDA_LOG_GROUP_NAME: 'create-plant',
      AWS_LAMBDA_LOG_STREAM_NAME: 'local',
      AWS_LAMBDA_LOG_FORMAT: 'JSON',
      LAMBDA_TASK_ROOT: taskRoot,
      _HANDLER: 'index.handler',
      TZ: ':UTC',
    },
  });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (log += chunk));
  const exit = once(child, 'exit');
  const ended = exit.then(() => Promise.reject(new Error(`The runtime ended:\n${log}`)));
  ended.catch(() => {});

  return {
    initError: initError.promise,
    log: () => log,

    /** One invocation, with so much time until the function's timeout. */
    async invoke(event: unknown, remainingMs = 10_000): Promise<Outcome> {
      await Promise.race([nextAsked.promise, ended]);
      nextAsked = Promise.withResolvers();
      const id = randomUUID();
      const outcome = Promise.withResolvers<Outcome>();
      outcomes.set(id, outcome);
      next
        ?.writeHead(200, {
          'content-type': 'application/json',
          'lambda-runtime-aws-request-id': id,
          'lambda-runtime-deadline-ms': String(Date.now() + remainingMs),
          'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:us-east-1:000000000000:function:create-plant',
        })
        .end(JSON.stringify(event));
      return Promise.race([outcome.promise, ended]);
    },

    async close(): Promise<void> {
      child.kill('SIGKILL');
      await exit;
      server.closeAllConnections();
      server.close();
    },
  };
}

export type Runtime = Awaited<ReturnType<typeof startRuntime>>;
