import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { projectRoot } from '../local/synthesize.ts';
import { cpuShare } from './cpu-share.ts';

const CLIENT = join(projectRoot, 'test/runtime/node_modules/aws-lambda-ric/index.mjs');

interface RunOptions {
  environment: Record<string, string>;
  /** Makes the body of the nth event. */
  event: (n: number) => string;
  /** Invocations after the first that only warm up, and those that are measured. */
  warmUp: number;
  invocations: number;
  /** The memory size by which the invocations' share of a CPU is set; without it they have a whole one. */
  megabytes?: number | undefined;
}

export interface Run {
  /** From spawn to the first response. */
  coldStartMs: number;
  /** From the first event to its response. */
  firstInvocationMs: number;
  /** CPU time of the measured invocations, each; absent where there were none. */
  warmCpuUs: number;
  /** Wall time of the measured invocations, each. */
  warmWallMs: number;
  peakMegabytes: number;
}

/** One execution environment from spawn to its last event, on AWS's runtime client. */
export async function measure(directory: string, options: RunOptions): Promise<Run> {
  const { environment, event, warmUp, invocations, megabytes } = options;
  let next = Promise.withResolvers<ServerResponse>();
  let answered = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/invocation/next')) return next.resolve(response);
    let body = '';
    request
      .on('data', (chunk) => (body += chunk))
      .on('end', () => {
        answered.resolve(body);
        response.writeHead(202).end('{}');
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const spawned = performance.now();
  const child = spawn(process.execPath, [CLIENT], {
    env: {
      ...environment,
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      AWS_LAMBDA_FUNCTION_NAME: 'bench',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
      AWS_LAMBDA_LOG_GROUP_NAME: 'bench',
      AWS_LAMBDA_LOG_STREAM_NAME: 'bench',
      AWS_LAMBDA_LOG_FORMAT: 'JSON',
      LAMBDA_TASK_ROOT: directory,
      _HANDLER: 'index.handler',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.on('data', (chunk) => (log += chunk));
  const exit = once(child, 'exit');
  const ended = exit.then(() => Promise.reject(new Error(`${directory} ended:\n${log}`)));
  ended.catch(() => {});
  const pid = Number(child.pid);
  const share = megabytes === undefined ? undefined : cpuShare(pid);
  let sent = 0;

  async function invoke(): Promise<void> {
    const response = await Promise.race([next.promise, ended]);
    next = Promise.withResolvers();
    answered = Promise.withResolvers();
    sent += 1;
    response
      .writeHead(200, {
        'content-type': 'application/json',
        'lambda-runtime-aws-request-id': String(sent),
        'lambda-runtime-deadline-ms': String(Date.now() + 10_000),
        'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:us-east-1:000000000000:function:bench',
      })
      .end(event(sent));
    const body = await Promise.race([answered.promise, ended]);
    if (!body.includes('"statusCode":200')) throw new Error(`${directory} answered ${body}\n${log}`);
  }

  try {
    // Init is at full speed, as on Lambda; from the first event on the share holds.
    await Promise.race([next.promise, ended]);
    if (megabytes !== undefined) share?.limitTo(megabytes);
    const delivered = performance.now();
    await invoke();
    const firstResponse = performance.now();
    for (let i = 0; i < warmUp; i += 1) await invoke();
    const cpuBefore = cpuNanoseconds(pid);
    const wallBefore = performance.now();
    for (let i = 0; i < invocations; i += 1) await invoke();
    return {
      coldStartMs: firstResponse - spawned,
      firstInvocationMs: firstResponse - delivered,
      warmCpuUs: (cpuNanoseconds(pid) - cpuBefore) / 1000 / invocations,
      warmWallMs: (performance.now() - wallBefore) / invocations,
      peakMegabytes: Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    };
  } finally {
    child.kill('SIGKILL');
    await exit;
    server.closeAllConnections();
    server.close();
    share?.remove();
  }
}

/** Time that a process and its threads had a CPU, in nanoseconds: finer than the ticks of proc(5)'s stat. */
function cpuNanoseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return times.reduce((sum, nanoseconds) => sum + Number(nanoseconds), 0);
}
