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

export type WorkerMessage = { ready: true } | { log: LogLine } | { response: string } | { failure: string };

/** As many at a time as keep a small machine busy; further events wait their turn. */
const MAX_ENVIRONMENTS = 8;

/**
 * A function run as Lambda runs it: execution environments with only the template's variables, each
 * serving one event at a time, ended when it crashes or when the timeout is over.
 */
export class LambdaFunction {
  readonly #configuration: FunctionConfiguration;
  readonly #environment: Record<string, string>;
  readonly #onLog: (line: LogLine) => void;
  readonly #all = new Set<ExecutionEnvironment>();
  readonly #idle: ExecutionEnvironment[] = [];
  readonly #waiting: (() => void)[] = [];

  /** `environment` is what Lambda itself would set, the region and the credentials among it. */
  constructor(
    configuration: FunctionConfiguration,
    environment: Record<string, string>,
    onLog: (line: LogLine) => void,
  ) {
    this.#configuration = configuration;
    this.#environment = environment;
    this.#onLog = onLog;
  }

  /** Starts one environment ahead of the first event. Throws what the bundle's init throws. */
  async warm(): Promise<void> {
    this.#idle.push(await this.#start());
  }

  /** The handler's answer to an event, both as JSON. Throws where it throws, crashes or is late. */
  async invoke(event: string): Promise<string> {
    while (this.#idle.length === 0 && this.#all.size >= MAX_ENVIRONMENTS) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    const environment = this.#idle.pop() ?? (await this.#start());
    try {
      return await environment.invoke(event);
    } finally {
      if (environment.alive) this.#idle.push(environment);
      else this.#all.delete(environment);
      this.#waiting.shift()?.();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((environment) => environment.end()));
  }

  async #start(): Promise<ExecutionEnvironment> {
    const environment = new ExecutionEnvironment(this.#configuration, this.#environment, this.#onLog);
    this.#all.add(environment);
    try {
      await environment.ready;
      return environment;
    } catch (error) {
      this.#all.delete(environment);
      this.#waiting.shift()?.();
      throw error;
    }
  }
}

class ExecutionEnvironment {
  readonly ready: Promise<void>;
  alive = true;
  readonly #worker: Worker;
  readonly #timeoutSeconds: number;
  #answer: PromiseWithResolvers<string> | undefined;

  constructor(
    configuration: FunctionConfiguration,
    environment: Record<string, string>,
    onLog: (line: LogLine) => void,
  ) {
    this.#timeoutSeconds = configuration.timeoutSeconds;
    this.#worker = new Worker(new URL('./lambda-worker.ts', import.meta.url), {
      workerData: configuration,
      env: { ...environment, ...configuration.environment },
      resourceLimits: { maxOldGenerationSizeMb: configuration.memoryMegabytes },
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ready = promise;
    this.#worker.on('message', (message: WorkerMessage) => {
      if ('ready' in message) resolve();
      else if ('log' in message) onLog(message.log);
      else if ('response' in message) this.#answer?.resolve(message.response);
      else this.#answer?.reject(new Error(message.failure));
    });
    const fail = (error: Error) => {
      this.alive = false;
      reject(error);
      this.#answer?.reject(error);
    };
    this.#worker.on('error', (error) => fail(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on('exit', (code) => fail(new Error(`The execution environment exited with status ${code}.`)));
  }

  async invoke(event: string): Promise<string> {
    this.#answer = Promise.withResolvers();
    const timeoutMs = this.#timeoutSeconds * 1000;
    const timer = setTimeout(() => {
      this.#answer?.reject(new Error(`Task timed out after ${this.#timeoutSeconds}.00 seconds`));
      this.alive = false;
      void this.end();
    }, timeoutMs);
    const invocation: Invocation = { event, requestId: randomUUID(), deadline: Date.now() + timeoutMs };
    this.#worker.postMessage(invocation);
    try {
      return await this.#answer.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}
