import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { FUNCTION_TIMEOUT_MS } from '../../functions/time-limits.ts';
import { listen } from '../../tools/local/listen.ts';

const CLIENT = join(import.meta.dirname, '../node_modules/aws-lambda-ric/index.mjs');
const RAPID_CLIENT = join(import.meta.dirname, 'rapid-client.cjs');

/**
 * Starts AWS's runtime client with a bundle, and a fake Runtime API that sends it one event at a time ("Using the
 * Lambda runtime API for custom runtimes").
 *
 * @param environment the variables of the function. It can replace those that Lambda sets, such as `_HANDLER`
 * @param isMeasured true to use the client's native part, as Lambda does, and to leave stdout out of the log
 */
export async function startRuntime(taskRoot: string, environment: Record<string, string>, isMeasured = false) {
  let next = Promise.withResolvers<ServerResponse>();
  let result = Promise.withResolvers<string>();
  let log = '';

  // Lambda's Runtime API keeps connections open. Node.js closes idle ones. If a long synchronous step delays that, it
  // closes one on which a request has just arrived, and the client ends.
  const { url, server } = await listen(async (request, response) => {
    if (request.url?.endsWith('/next')) return next.resolve(response);
    const body = await text(request);
    if (request.url?.endsWith('/response')) result.resolve(body);
    else result.reject(new Error(`The function failed: ${body}\n${log}`));
    response.writeHead(202).end('{}');
  });
  server.keepAliveTimeout = 0;

  const spawned = performance.now();
  const child = spawn(process.execPath, isMeasured ? [CLIENT] : ['--require', RAPID_CLIENT, CLIENT], {
    env: {
      AWS_LAMBDA_RUNTIME_API: new URL(url).host,
      // Then the client receives events over node:http too.
      ...(!isMeasured && { AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1: 'true' }),
      AWS_LAMBDA_FUNCTION_NAME: 'local',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
      AWS_LAMBDA_LOG_GROUP_NAME: 'local',
      AWS_LAMBDA_LOG_STREAM_NAME: 'local',
      AWS_LAMBDA_LOG_FORMAT: 'JSON',
      LAMBDA_TASK_ROOT: taskRoot,
      _HANDLER: 'index.handler',
      TZ: ':UTC',
      ...environment,
    },
    stdio: ['ignore', isMeasured ? 'ignore' : 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (log += chunk));
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`The runtime ended: ${log}`)));
  ended.catch(() => {});
  const ready = () => Promise.race([next.promise, ended]);

  return {
    pid: Number(child.pid),
    /** When the process was started: `performance.now()`, in milliseconds. */
    spawned,
    /** Resolves after init. */
    ready,
    log: () => log,

    /** Returns the response to an event as JSON. Throws the function's error. */
    async invoke(event: unknown): Promise<string> {
      const response = await ready();
      next = Promise.withResolvers();
      result = Promise.withResolvers();
      const headers = {
        // Without it, the client's native part crashes.
        'content-type': 'application/json',
        'lambda-runtime-aws-request-id': randomUUID(),
        'lambda-runtime-deadline-ms': Date.now() + FUNCTION_TIMEOUT_MS,
        'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:us-east-1:000000000000:function:local',
      };
      response.writeHead(200, headers).end(JSON.stringify(event));
      return Promise.race([result.promise, ended]);
    },

    async close(): Promise<void> {
      child.kill('SIGKILL');
      await ended.catch(() => {});
      server.close();
    },
  };
}
