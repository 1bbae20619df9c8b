import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { FunctionConfiguration } from './template.ts';

/** A line of the function's log, as in Lambda's JSON log format. */
export interface LogLine {
  timestamp: string;
  level: string;
  message: unknown;
}

export interface Invocation {
  /** The event as JSON. */
  event: string;
  requestId: string;
  /** When the function's timeout ends it, in ms since 1970. */
  deadline: number;
}

/** What is logged, and what comes of the init or of an event. */
export type WorkerMessage = { log: LogLine } | { response: string } | { failure: string };

export interface LambdaFunction {
  /** The handler's answer to an event, both as JSON. Throws where it throws, crashes or is late. */
  invoke(event: string): Promise<string>;
  /** Ends it once what was begun is answered. */
  close(): Promise<void>;
}

/** A worker and what it is at: its init, then one event after the other. */
interface ExecutionEnvironment {
  worker: Worker;
  work: PromiseWithResolvers<string>;
  busy: boolean;
}

/** As many at a time as keep a small machine busy; further events wait their turn. */
const MAX_ENVIRONMENTS = 8;

/**
 * A function run as Lambda runs it: execution environments with only the configuration's variables, each serving one
 * event at a time, ended when it crashes or when the timeout is over. One is started ahead of the first event. Throws
 * what the bundle's init throws.
 */
export async function startFunction(
  configuration: FunctionConfiguration,
  onLog: (line: LogLine) => void,
): Promise<LambdaFunction> {
  const environments = new Set<ExecutionEnvironment>();
  const waiting: (() => void)[] = [];

  async function start(): Promise<ExecutionEnvironment> {
    const worker = new Worker(new URL('./lambda-worker.ts', import.meta.url), {
      workerData: configuration,
      env: configuration.environment,
      resourceLimits: { maxOldGenerationSizeMb: configuration.memoryMegabytes },
    });
    const environment = { worker, work: Promise.withResolvers<string>(), busy: true };
    environments.add(environment);
    worker.on('message', (message: WorkerMessage) => {
      if ('log' in message) onLog(message.log);
      else if ('response' in message) environment.work.resolve(message.response);
      else environment.work.reject(new Error(message.failure));
    });
    worker.on('error', (error) => discard(environment, error instanceof Error ? error : new Error(String(error))));
    worker.on('exit', (code) => {
      discard(environment, new Error(`The execution environment exited with status ${code}.`));
    });
    await environment.work.promise;
    return environment;
  }

  function discard(environment: ExecutionEnvironment, error: Error): void {
    environments.delete(environment);
    environment.work.reject(error);
    waiting.shift()?.();
  }

  const findIdle = () => [...environments].find(({ busy }) => !busy);

  async function invoke(event: string): Promise<string> {
    while (!findIdle() && environments.size >= MAX_ENVIRONMENTS) {
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    const environment = findIdle() ?? (await start());
    environment.busy = true;
    environment.work = Promise.withResolvers();
    const timeoutMs = configuration.timeoutSeconds * 1000;
    const timer = setTimeout(() => {
      discard(environment, new Error(`Task timed out after ${configuration.timeoutSeconds}.00 seconds`));
      void environment.worker.terminate();
    }, timeoutMs);
    const invocation: Invocation = { event, requestId: randomUUID(), deadline: Date.now() + timeoutMs };
    environment.worker.postMessage(invocation);
    try {
      return await environment.work.promise;
    } finally {
      clearTimeout(timer);
      environment.busy = false;
      waiting.shift()?.();
    }
  }

  const first = await start();
  first.busy = false;
  return {
    invoke,
    close: async () => {
      // Each ends at the latest by its timeout.
      while ([...environments].some(({ busy }) => busy)) {
        await Promise.allSettled([...environments].map(({ work }) => work.promise));
      }
      await Promise.all([...environments].map(({ worker }) => worker.terminate()));
    },
  };
}
