import { hash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { open } from 'node:inspector';
import { registerHooks, setSourceMapsSupport } from 'node:module';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { WorkerMessage } from './lambda.ts';
import { logLine, toText } from './log.ts';
import type { FunctionConfiguration } from './template.ts';

/*
 * A Lambda execution environment: loads the bundle once, then runs one event at a time. It is a worker thread; or, for a
 * debugger, a process with the configuration as its argument.
 */

delete process.env['NODE_COMPILE_CACHE'];
const configuration: FunctionConfiguration = workerData ?? JSON.parse(String(process.argv[2]));
const post = (message: WorkerMessage) => (parentPort ? parentPort.postMessage(message) : process.send?.(message));

for (const method of ['trace', 'debug', 'info', 'log', 'warn', 'error'] as const) {
  const level = method === 'log' ? 'INFO' : method.toUpperCase();
  console[method] = (...values: unknown[]) => post({ log: logLine(level, values) });
}

const [file, exported] = configuration.handler.split('.') as [file: string, exported: string];
const bundle = join(configuration.assetDirectory, `${file}.mjs`);

// Stacks and debuggers show the TypeScript sources. The bundle on disk does not name its source map (local/bin/npx).
setSourceMapsSupport(true);
registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:')) return nextLoad(url, context);
    const source = readFileSync(new URL(url), 'utf8');
    const map = join(configuration.assetDirectory, '../source-maps', `${hash('sha256', source)}.map`);
    const base64 = existsSync(map) ? readFileSync(map, 'base64') : '';
    const comment = `//# sourceMappingURL=data:application/json;base64,${base64}`;
    return { format: 'module', source: `${source}\n${comment}`, shortCircuit: true };
  },
});
const handler: unknown = (await import(pathToFileURL(bundle).href))[exported];
if (typeof handler !== 'function') throw new Error(`${bundle} does not export a function "${exported}".`);

(parentPort ?? process).on('message', async (event: string) => {
  const deadline = Date.now() + configuration.timeoutSeconds * 1000;
  const context = {
    functionName: configuration.name,
    functionVersion: '$LATEST',
    memoryLimitInMB: String(configuration.memoryMegabytes),
    awsRequestId: randomUUID(),
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
  try {
    post({ response: JSON.stringify(await handler(JSON.parse(event), context)) ?? 'null' });
  } catch (error) {
    post({ failure: toText(error) });
  }
});
// Reports the end of the init phase.
post({ response: '' });

const { inspectorPort } = configuration;
if (inspectorPort !== undefined) {
  process.on('disconnect', () => process.exit());
  // The previous build's process uses the port until its requests have ended.
  for (let tries = 1; !(await isFree(inspectorPort)); tries += 1) {
    if (tries === 20) console.warn(`The debugger’s port ${inspectorPort} is in use. It opens when it is free.`);
    await sleep(100);
  }
  open(inspectorPort);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  const listens = once(server, 'listening').then(
    () => true,
    () => false,
  );
  return await listens.finally(() => server.close());
}
