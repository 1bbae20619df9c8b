import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { LOCAL_CREDENTIALS } from './dynamodb.ts';
import type { LogLine } from './log.ts';
import {
  type FunctionConfiguration,
  functionOfRoute,
  LOCAL_REGION,
  servedFunctions,
  type Template,
} from './template.ts';

const children = new Set<ChildProcess>();
// A process that a debugger has paused does not notice that its parent has ended.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

type OnLog = (line: LogLine) => void;

/** A message of a function's process. An error is a text with its stack. */
export type ProcessMessage =
  | { log: LogLine }
  /** The response as JSON; empty after the init. */
  | { response: string }
  /** The handler's error. */
  | { failure: string }
  /** The error that ends the process. */
  | { crash: string };

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

    /** Ends the processes, and fails the events in progress. The next events start new processes. */
    async interrupt(): Promise<void> {
      await Promise.all([...functions.values()].map((each) => each.interrupt()));
    },

    /** Ends the functions when their events have ended. */
    async close(): Promise<void> {
      await Promise.all([...functions.values()].map((each) => each.close()));
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

/** Starts a process that runs one event at a time. After its end it cannot be used again. */
function startProcess(configuration: FunctionConfiguration, onLog: OnLog) {
  const { environmentVariables, memoryMegabytes, timeoutSeconds, inspectorPort } = configuration;
  const { NODE_COMPILE_CACHE, NODE_EXTRA_CA_CERTS } = process.env;
  const child = fork(new URL('./lambda-process.ts', import.meta.url), [JSON.stringify(configuration)], {
    // Node.js reads both at its start: it starts faster, and trusts this machine's certificates. Then they are deleted.
    env: { NODE_COMPILE_CACHE, NODE_EXTRA_CA_CERTS, ...environmentVariables },
    execArgv: [
      `--max-old-space-size=${memoryMegabytes}`,
      ...(inspectorPort === undefined ? [] : [`--inspect=${inspectorPort}`]),
    ],
    // Ctrl-C signals all processes of a group, and requests in progress must finish.
    detached: true,
  });
  children.add(child);
  /** The result of the init or of the event in progress. */
  let result = Promise.withResolvers<string>();
  /** Why the process cannot run another event. */
  let failure: Error | undefined;

  function fail(error: Error): void {
    failure ??= error;
    result.reject(failure);
  }

  child.on('error', fail);
  child.on('message', (message: ProcessMessage) => {
    if ('log' in message) onLog(message.log);
    else if ('crash' in message) fail(new Error(message.crash));
    else if ('response' in message) result.resolve(message.response);
    else result.reject(new Error(message.failure));
  });
  // The last messages can arrive after `exit`, but not after `disconnect`.
  const ended = Promise.all([once(child, 'exit'), once(child, 'disconnect')])
    .then(([[status, signal]]) =>
      fail(new Error(`The execution environment exited with ${signal ?? `status ${status}`}.`)),
    )
    .catch(fail)
    .finally(() => children.delete(child));

  return {
    ready: result.promise,
    hasFailed: () => failure !== undefined,

    /** Runs an event. The event and the response are JSON. */
    async run(event: string): Promise<string> {
      if (failure) throw failure;
      result = Promise.withResolvers();
      const timer = setTimeout(() => {
        fail(new Error(`Task timed out after ${timeoutSeconds}.00 seconds`));
        child.kill('SIGKILL');
      }, timeoutSeconds * 1000);
      child.send(event, (error) => error && fail(error));
      return await result.promise.finally(() => clearTimeout(timer));
    },

    /** Ends the process, and fails the event in progress. */
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * Starts a function in a process of its own. After a crash or a timeout, the next event starts a new process.
 *
 * @throws if the bundle cannot be loaded
 */
export async function startFunction(configuration: FunctionConfiguration, onLog: OnLog) {
  let current = startProcess(configuration, onLog);
  /** Resolves when all events so far have ended. */
  let previous: Promise<unknown> = Promise.resolve();

  async function run(event: string): Promise<string> {
    if (current.hasFailed()) {
      current = startProcess(configuration, onLog);
      await current.ready;
    }
    return await current.run(event);
  }

  await current.ready;
  return {
    /** Returns the handler's response. Throws if it fails or times out. The message of a failure contains its stack. */
    async invoke(event: unknown): Promise<unknown> {
      const json = JSON.stringify(event);
      const ended = previous.then(() => run(json));
      previous = ended.catch(() => {});
      return JSON.parse(await ended);
    },

    /** Ends the process, and fails the event in progress. The next event starts a new process. */
    interrupt: () => current.kill(),

    /** Ends the process when its events have ended. */
    async close(): Promise<void> {
      await previous;
      await current.kill();
    },
  };
}
