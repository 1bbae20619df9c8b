import { fork } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { LOCAL_CREDENTIALS } from './dynamodb.ts';
import { type LogLine, toText } from './log.ts';
import {
  type FunctionConfiguration,
  functionOfRoute,
  LOCAL_REGION,
  servedFunctions,
  type Template,
} from './template.ts';

/** Maximum number of concurrent events for each function. Lambda would start more environments. */
const MAX_ENVIRONMENTS = 3;
/** Maximum size of an event, and of a response, as JSON ("Lambda quotas"). */
const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;

type OnLog = (line: LogLine) => void;

/**
 * A log line, or the result: an empty response after the init, the response as JSON after an invocation, or the error
 * with its stack.
 */
export type WorkerMessage = { log: LogLine } | { response: string } | { failure: string };

export class EventTooLarge extends Error {}

export type RunningFunctions = Awaited<ReturnType<typeof startServedFunctions>>;

/** Starts the functions of the template's routes. They use the DynamoDB at `endpoint`. */
export async function startServedFunctions(template: Template, { endpoint }: { endpoint: string }, onLog: OnLog) {
  const start = async ({ name, environmentVariables, ...configuration }: Template['functions'][number]) => {
    const variables = { ...lambdaVariables(name, endpoint), ...environmentVariables };
    return [name, await startFunction({ name, environmentVariables: variables, ...configuration }, onLog)] as const;
  };
  const starts = await Promise.allSettled(servedFunctions(template).map(start));
  const functions = new Map(starts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
  const running = {
    template,

    /** Invokes the function of the event's route, and returns its response. Throws if the stack has no such route. */
    async invoke(event: APIGatewayProxyEvent): Promise<unknown> {
      const { name } = functionOfRoute(template, event.httpMethod, event.resource);
      return await functions.get(name)?.invoke(event);
    },

    async close(): Promise<void> {
      await Promise.all([...functions.values()].map((lambda) => lambda.close()));
    },
  };
  for (const each of starts) {
    if (each.status === 'fulfilled') continue;
    await running.close();
    throw each.reason;
  }
  return running;
}

/** Lambda's environment variables ("Using Lambda environment variables"), and those that keep the SDK on this machine. */
export function lambdaVariables(functionName: string, dynamoDbEndpoint: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDbEndpoint,
    AWS_LAMBDA_FUNCTION_NAME: functionName,
    AWS_REGION: LOCAL_REGION,
    AWS_ACCESS_KEY_ID: LOCAL_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: LOCAL_CREDENTIALS.secretAccessKey,
    // Without these two, the SDK of the pre-traffic hook would use this machine's profiles.
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    TZ: ':UTC',
  };
}

/**
 * Starts a function as on Lambda: its execution environments have only the function's variables, and each runs one
 * event at a time. Starts the first environment immediately, and the others when they are needed.
 *
 * @throws if the bundle cannot be loaded
 */
export async function startFunction(configuration: FunctionConfiguration, onLog: OnLog) {
  const length = configuration.inspectorPort === undefined ? MAX_ENVIRONMENTS : 1;
  const environments = Array.from({ length }, () => createEnvironment(configuration, onLog));
  await environments[0]?.start();
  return {
    /**
     * Returns the handler's response. Throws if it fails or times out, or if the event or response is too large. The
     * message of a failure contains its stack.
     */
    async invoke(event: unknown): Promise<unknown> {
      const json = JSON.stringify(event);
      if (Buffer.byteLength(json) > MAX_PAYLOAD_BYTES) throw new EventTooLarge('The event is larger than 6 MB.');
      const leastBusy = environments.reduce((least, each) => (each.pending < least.pending ? each : least));
      const response = await leastBusy.invoke(json);
      if (Buffer.byteLength(response) > MAX_PAYLOAD_BYTES) throw new Error('The response is larger than 6 MB.');
      return JSON.parse(response);
    },

    /** Stops the function when its invocations have ended. */
    async close(): Promise<void> {
      await Promise.all(environments.map((environment) => environment.close()));
    },
  };
}

/** A worker thread, or a process with the same methods. */
type WorkerOrProcess = EventEmitter & { postMessage(event: string): void; terminate(): Promise<unknown> };

/** Starts a worker. A debugger gets a process, because a worker would stay paused after the debugger has left. */
function startWorker(configuration: FunctionConfiguration): WorkerOrProcess {
  const { environmentVariables, memoryMegabytes, inspectorPort } = configuration;
  const { NODE_COMPILE_CACHE } = process.env;
  // The worker starts faster with a compile cache. It removes the variable before the function's code runs.
  const env = { ...environmentVariables, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
  const file = new URL('./lambda-worker.ts', import.meta.url);
  if (inspectorPort === undefined) {
    const resourceLimits = { maxOldGenerationSizeMb: memoryMegabytes };
    return new Worker(file, { workerData: configuration, env, resourceLimits });
  }
  const execArgv = [`--max-old-space-size=${memoryMegabytes}`];
  // `detached`, because Ctrl-C signals all processes of the group, and requests in progress must finish.
  const child = fork(file, [JSON.stringify(configuration)], { env, execArgv, detached: true });
  const terminate = async () => child.kill('SIGKILL');
  // A paused process does not notice that its parent has ended.
  process.on('exit', terminate);
  child.on('exit', () => process.off('exit', terminate));
  return Object.assign(child, { postMessage: (event: string) => child.send(event), terminate });
}

/** Runs one event at a time in a worker. Starts a new worker after a crash or a timeout. */
function createEnvironment(configuration: FunctionConfiguration, onLog: OnLog) {
  const { timeoutSeconds } = configuration;
  let current: WorkerOrProcess | undefined;
  /** The result of the init or of the invocation in progress. */
  let result = Promise.withResolvers<string>();
  /** Resolves when all events so far have ended. */
  let previous: Promise<unknown> = Promise.resolve();

  /** Fails the event in progress. The next event starts a new worker. */
  function discard(worker: WorkerOrProcess, error: Error): void {
    if (worker !== current) return;
    current = undefined;
    result.reject(error);
  }

  /** Starts the worker and waits for its init. */
  async function start(): Promise<WorkerOrProcess> {
    const worker = startWorker(configuration);
    worker.on('message', (message: WorkerMessage) => {
      if ('log' in message) onLog(message.log);
      // A worker that timed out may still respond before it has ended.
      else if (worker !== current) return;
      else if ('response' in message) result.resolve(message.response);
      else result.reject(new Error(message.failure));
    });
    worker.on('error', (error) => discard(worker, new Error(toText(error))));
    worker.on('exit', (code) => discard(worker, new Error(`The execution environment exited with status ${code}.`)));
    current = worker;
    result = Promise.withResolvers();
    await result.promise;
    return worker;
  }

  async function run(event: string): Promise<string> {
    const worker = current ?? (await start());
    const timer = setTimeout(() => {
      discard(worker, new Error(`Task timed out after ${timeoutSeconds}.00 seconds`));
      void worker.terminate();
    }, timeoutSeconds * 1000);
    result = Promise.withResolvers();
    worker.postMessage(event);
    return await result.promise.finally(() => clearTimeout(timer));
  }

  return {
    start,
    /** Number of events that run or wait. */
    pending: 0,
    /** Runs an event after all previous ones. The event and the response are JSON. */
    invoke(event: string): Promise<string> {
      this.pending++;
      const response = previous.then(() => run(event)).finally(() => this.pending--);
      previous = response.catch(() => {});
      return response;
    },
    async close(): Promise<void> {
      await previous;
      await current?.terminate();
    },
  };
}
