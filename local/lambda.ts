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

/** Maximum size of an event, and of a response, as JSON ("Lambda quotas"). */
const MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;

const children = new Set<ChildProcess>();
// A process that a debugger has paused does not notice that its parent has ended.
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

type OnLog = (line: LogLine) => void;

/**
 * A log line; the result: an empty response after the init, the response as JSON after an event, or the handler's error;
 * or the error that ends the process. An error is a text with its stack.
 */
export type ProcessMessage = { log: LogLine } | { response: string } | { failure: string } | { crash: string };

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

    /** Fails the events in progress. */
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

/**
 * Starts a function in a process of its own, which has only the function's variables and runs one event at a time. After
 * a crash or a timeout, the next event starts a new process.
 *
 * @throws if the bundle cannot be loaded
 */
export async function startFunction(configuration: FunctionConfiguration, onLog: OnLog) {
  const { environmentVariables, memoryMegabytes, timeoutSeconds, inspectorPort } = configuration;
  let current: ChildProcess | undefined;
  /** The result of the init or of the event in progress. */
  let result = Promise.withResolvers<string>();
  /** Resolves when all events so far have ended. */
  let previous: Promise<unknown> = Promise.resolve();

  /** Starts the process and waits for its init. */
  async function start(): Promise<ChildProcess> {
    const { NODE_COMPILE_CACHE, NODE_EXTRA_CA_CERTS } = process.env;
    const child = fork(new URL('./lambda-process.ts', import.meta.url), [JSON.stringify(configuration)], {
      // For Node.js itself, to start faster and to trust this machine's certificates. The process removes them at once.
      env: { NODE_COMPILE_CACHE, NODE_EXTRA_CA_CERTS, ...environmentVariables },
      execArgv: [
        `--max-old-space-size=${memoryMegabytes}`,
        ...(inspectorPort === undefined ? [] : [`--inspect=${inspectorPort}`]),
      ],
      // Ctrl-C signals all processes of a group, and requests in progress must finish.
      detached: true,
    });
    children.add(child);
    child.on('message', (message: ProcessMessage) => {
      if ('log' in message) onLog(message.log);
      else if ('crash' in message) discard(child, message.crash);
      // A process that timed out may still respond before it has ended.
      else if (child !== current) return;
      else if ('response' in message) result.resolve(message.response);
      else result.reject(new Error(message.failure));
    });
    child.on('exit', () => children.delete(child));
    current = child;
    result = Promise.withResolvers();
    // The last messages can arrive after `exit`, but not after `disconnect`.
    void Promise.all([once(child, 'exit'), once(child, 'disconnect')]).then(([[status]]) =>
      discard(child, `The execution environment exited with status ${status}.`),
    );
    await result.promise;
    return child;
  }

  /** Fails the event in progress. The next event starts a new process. */
  function discard(child: ChildProcess, reason: string): void {
    if (child !== current) return;
    current = undefined;
    result.reject(new Error(reason));
  }

  async function run(event: string): Promise<string> {
    const child = current ?? (await start());
    const timer = setTimeout(() => {
      discard(child, `Task timed out after ${timeoutSeconds}.00 seconds`);
      child.kill('SIGKILL');
    }, timeoutSeconds * 1000);
    result = Promise.withResolvers();
    child.send(event);
    return await result.promise.finally(() => clearTimeout(timer));
  }

  async function interrupt(): Promise<void> {
    const exit = current && once(current, 'exit');
    current?.kill('SIGKILL');
    await exit;
  }

  await start();
  return {
    /**
     * Returns the handler's response. Throws if it fails or times out, or if the event or response is too large. The
     * message of a failure contains its stack.
     */
    async invoke(event: unknown): Promise<unknown> {
      const json = JSON.stringify(event);
      if (Buffer.byteLength(json) > MAX_PAYLOAD_BYTES) throw new EventTooLarge('The event is larger than 6 MB.');
      const ended = previous.then(() => run(json));
      previous = ended.catch(() => {});
      const response = await ended;
      if (Buffer.byteLength(response) > MAX_PAYLOAD_BYTES) throw new Error('The response is larger than 6 MB.');
      return JSON.parse(response);
    },

    /** Ends the process, and fails the event in progress. The next event starts a new process. */
    interrupt,

    /** Ends the process when its events have ended. */
    async close(): Promise<void> {
      await previous;
      await interrupt();
    },
  };
}
