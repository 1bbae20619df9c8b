import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { WorkerMessage } from './lambda.ts';
import type { FunctionConfiguration } from './template.ts';

/* A Lambda execution environment: loads the bundle once, then runs one event at a time. */

delete process.env['NODE_COMPILE_CACHE'];
const configuration: FunctionConfiguration = workerData;
const port = parentPort as MessagePort;
const post = (message: WorkerMessage) => port.postMessage(message);

for (const method of ['debug', 'info', 'log', 'warn', 'error'] as const) {
  const level = method === 'log' ? 'INFO' : method.toUpperCase();
  console[method] = (message: unknown) => post({ log: { timestamp: new Date().toISOString(), level, message } });
}

const [file, exported] = configuration.handler.split('.') as [file: string, exported: string];
const bundle = join(configuration.assetDirectory, `${file}.mjs`);
const handler: unknown = (await import(pathToFileURL(bundle).href))[exported];
if (typeof handler !== 'function') throw new Error(`${bundle} does not export a function "${exported}".`);

port.on('message', async (event: string) => {
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
    post({ failure: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
  }
});
// Reports the end of the init phase.
post({ response: '' });
