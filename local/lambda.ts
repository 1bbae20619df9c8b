import { Worker } from 'node:worker_threads';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { LOCAL_CREDENTIALS } from './dynamodb.ts';
import {
  type FunctionConfiguration,
  functionOfRoute,
  LOCAL_REGION,
  servedFunctions,
  type Template,
} from './template.ts';

/** Maximum number of concurrent events for each function. More would only slow down a small machine. */
const MAX_ENVIRONMENTS = 8;
/** Maximum size of an event, and of a response, as JSON ("Lambda quotas"). */
const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;

/** A line of the function's log, in Lambda's JSON log format. */
export interface LogLine {
  timestamp: string;
  level: string;
  message: unknown;
}

/** A log line, or the result: an empty response after the init, the response as JSON after an invocation. */
export type WorkerMessage = { log: LogLine } | { response: string } | { failure: string };

export class EventTooLarge extends Error {}

export type Deployment = Awaited<ReturnType<typeof deploy>>;

/** Starts the functions of the template's routes. They use the DynamoDB at `endpoint`. */
export async function deploy(template: Template, { endpoint }: { endpoint: string }, onLog: (line: LogLine) => void) {
  const start = async ({ name, environment, ...configuration }: Template['functions'][number]) => {
    const variables = { ...lambdaEnvironment(name, endpoint), ...environment };
    return [name, await startFunction({ name, environment: variables, ...configuration }, onLog)] as const;
  };
  const functions = new Map(await Promise.all(servedFunctions(template).map(start)));
  return {
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
}

/** Lambda's environment variables ("Using Lambda environment variables"), and those that keep the SDK on this machine. */
export function lambdaEnvironment(functionName: string, dynamoDbEndpoint: string): Record<string, string> {
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
 * Starts a function that runs as on Lambda: in execution environments that have only the function's variables, and
 * that each run one event at a time. Starts the first environment immediately, and the others when they are needed.
 *
 * @throws if the bundle cannot be loaded
 */
export async function startFunction(configuration: FunctionConfiguration, onLog: (line: LogLine) => void) {
  const environments = Array.from({ length: MAX_ENVIRONMENTS }, () => createEnvironment(configuration, onLog));
  await environments[0]?.start();
  return {
    /** Returns the handler's response. Throws if it fails or times out, or if the event or response is too large. */
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

/** Runs one event at a time in a worker thread. Starts a new worker after a crash or a timeout. */
function createEnvironment(configuration: FunctionConfiguration, onLog: (line: LogLine) => void) {
  const { environment, memoryMegabytes, timeoutSeconds } = configuration;
  let current: Worker | undefined;
  /** The result of the init or of the invocation in progress. */
  let result = Promise.withResolvers<string>();
  /** Resolves when all events so far have ended. */
  let previous: Promise<unknown> = Promise.resolve();

  /** Fails the event in progress. The next event starts a new worker. */
  function discard(worker: Worker, error: Error): void {
    if (worker !== current) return;
    current = undefined;
    result.reject(error);
  }

  /** Starts the worker and waits for its init. */
  async function start(): Promise<Worker> {
    const worker = new Worker(new URL('./lambda-worker.ts', import.meta.url), {
      workerData: configuration,
      // The worker removes the variable. With a compile cache, it starts in half of the time.
      env: { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '', ...environment },
      resourceLimits: { maxOldGenerationSizeMb: memoryMegabytes },
    });
    worker.on('message', (message: WorkerMessage) => {
      if ('log' in message) onLog(message.log);
      else if ('response' in message) result.resolve(message.response);
      else result.reject(new Error(message.failure));
    });
    worker.on('error', (error) => discard(worker, error instanceof Error ? error : new Error(String(error))));
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
