import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { watch } from 'chokidar';
import { createTables, DEVELOPMENT_TOKEN, openLocalDynamoDb, putDevelopmentToken, type Storage } from './dynamodb.ts';
import { createGateway } from './gateway.ts';
import { type RunningFunctions, startServedFunctions } from './lambda.ts';
import { accessLine, type LogLine } from './log.ts';
import { PAGE_PATH, serveReferencePage } from './reference-page.ts';
import { announceService, claimDataDirectory, dataDirectory, warnIfDeleted } from './running-service.ts';
import { projectRoot, synthesize } from './synthesize.ts';
import { readTemplate, withDebuggerPorts } from './template.ts';

/** Time for requests in progress to end when the service closes. */
const GRACE_MS = 500;
/** Time to wait after a change, because an editor can change a file several times when it saves. */
const DEBOUNCE_MS = 50;

/** A folder for each build. They are not in `cdk.out`, because a deployment may be reading that. */
const BUILDS = join(dataDirectory, 'builds');

interface ServiceOptions {
  /** 0 for any free port. */
  port: number;
  /** True to rebuild after each change to the contract, the stack or a function. */
  watch: boolean;
  /** The treatment of the data in .local/. */
  storage: Storage;
  /** True to open a debugger's port for each function, and to wait for functions without a timeout. */
  inspect: boolean;
}

/** Serves the synthesized stack on 127.0.0.1. Returns instructions for the terminal, and a function that ends it. */
export async function startService({ port, watch: rebuildOnChange, storage, inspect }: ServiceOptions) {
  await claimDataDirectory();
  const listener = Promise.withResolvers<RequestListener>();
  const server = createServer(async (request, response) => (await listener.promise)(request, response));
  // First, so that a port in use fails at once, and before --fresh deletes the data.
  await listen(server, port);
  const dynamoDb = await openLocalDynamoDb(storage);
  console.log('Synthesizing the stack…');
  rmSync(BUILDS, { recursive: true, force: true });

  /** Builds in a new folder. Without a debugger, the previous functions use theirs until their requests have ended. */
  async function build(previous?: RunningFunctions): Promise<RunningFunctions> {
    mkdirSync(BUILDS, { recursive: true });
    const assembly = await mkdtempDisposable(join(BUILDS, 'build-'));
    try {
      if (rebuildOnChange) (await import('../generate/generate.ts')).writeGenerated();
      const synthesized = readTemplate(await synthesize(assembly.path));
      const template = inspect ? withDebuggerPorts(synthesized, process.debugPort) : synthesized;
      await createTables(dynamoDb, template);
      // The new functions need the debugger's ports.
      if (inspect) await previous?.interrupt();
      const { close, ...running } = await startServedFunctions(template, dynamoDb, printLine);
      announceService({ endpoint: dynamoDb.endpoint, outputs: template.outputs });
      return { ...running, close: () => close().then(assembly.remove) };
    } catch (error) {
      await assembly.remove();
      throw error;
    }
  }

  let typeCheck: ChildProcess | undefined;

  /** Waits for a change and builds. If that fails, prints why, and waits for the next change. */
  async function rebuild(nextChange: () => Promise<void>, previous?: RunningFunctions): Promise<RunningFunctions> {
    for (;;) {
      await nextChange();
      typeCheck?.kill();
      console.log('Rebuilding…');
      const start = performance.now();
      try {
        const rebuilt = await build(previous);
        console.log(`Rebuilt in ${((performance.now() - start) / 1000).toFixed(1)} s.`);
        typeCheck = checkTypes();
        return rebuilt;
      } catch (error) {
        printFailure(error as Error, previous);
      }
    }
  }

  function printFailure({ message }: Error, previous?: RunningFunctions): void {
    console.error(`${message}\n\n${previous ? 'Still serving the last good version.' : 'Waiting for a change.'}`);
  }

  const nextChange = rebuildOnChange ? await watchSources() : undefined;
  let running = await build().catch((error: Error) => {
    if (!nextChange) throw error;
    printFailure(error);
    return rebuild(nextChange);
  });
  await putDevelopmentToken(dynamoDb, running.template);
  warnIfDeleted();

  const gateway = createGateway(() => running, printAccess);
  listener.resolve((request, response) => {
    if (request.url === '/') response.setHeader('link', `<${PAGE_PATH}/>; rel="service-doc"`);
    if (!serveReferencePage(request, response, DEVELOPMENT_TOKEN)) gateway(request, response);
  });

  async function rebuildAfterChanges(nextChange: () => Promise<void>): Promise<never> {
    for (;;) {
      const rebuilt = await rebuild(nextChange, running);
      void running.close();
      running = rebuilt;
    }
  }
  if (nextChange) void rebuildAfterChanges(nextChange);

  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const plantsUrl = `${baseUrl}/plants`;
  const instructions = `Read and try the API in a browser: ${baseUrl}${PAGE_PATH}

The plant store is ready at ${plantsUrl}

Create a plant:
  curl -i ${plantsUrl} -H 'Authorization: Bearer ${DEVELOPMENT_TOKEN}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera deliciosa","tag":"climber"}'

List what is stored: npm run plants
`;
  return {
    instructions,

    /** Stops listening, and waits for requests in progress. After it, exit: the database and the functions stay open. */
    async close(): Promise<void> {
      server.close();
      await Promise.race([once(server, 'close'), sleep(GRACE_MS)]);
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(`Port ${port} is in use; set PORT to a free port, or to 0 for any free port.`);
  }
}

/** Prints the line of a response. */
function printAccess(line: string, error?: number): void {
  console.log(process.stdout.isTTY ? accessLine(line, error) : line);
}

/** Prints a line of a function's log. Omits the line of a request that did not fail: `printAccess` prints one. */
function printLine({ level, text, isRequest }: LogLine): void {
  if (level === 'INFO' && isRequest) return;
  const print = ['WARN', 'ERROR'].includes(level) ? console.error : console.log;
  print(`${level} ${text}`);
}

/**
 * Watches the contract, the stack and the functions. Returns a function that waits for the next change, or returns
 * immediately if there was one since its last call.
 */
async function watchSources(): Promise<() => Promise<void>> {
  let change = Promise.withResolvers<void>();
  const watcher = watch(['functions', 'infra', 'openapi.yaml'], {
    cwd: projectRoot,
    ignoreInitial: true,
    // A rebuild writes these files.
    ignored: /\.generated\./,
  });
  watcher.on('all', () => change.resolve());
  await once(watcher, 'ready');
  return async () => {
    await change.promise;
    await sleep(DEBOUNCE_MS);
    change = Promise.withResolvers();
  };
}

/** Starts `tsc`, which prints the type errors. */
function checkTypes(): ChildProcess {
  const args = ['node_modules/.bin/tsc', '--incremental', '--tsBuildInfoFile', '.local/tsc.json'];
  return spawn(process.execPath, args, { cwd: projectRoot, stdio: 'inherit' });
}
