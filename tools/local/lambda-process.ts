import { hash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks, setSourceMapsSupport } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ProcessMessage } from './lambda.ts';
import { logLine, toText } from './log.ts';
import type { FunctionConfiguration } from './template.ts';

/*
 * A Lambda execution environment: a process that loads the bundle once, then runs one event at a time. Its argument is the
 * function's configuration.
 */

delete process.env['NODE_COMPILE_CACHE'];
delete process.env['NODE_EXTRA_CA_CERTS'];
const configuration: FunctionConfiguration = JSON.parse(String(process.argv[2]));
const post = (message: ProcessMessage, sent = () => {}) => process.send?.(message, sent);

process.on('disconnect', () => process.exit());
process.on('uncaughtException', (error) => post({ crash: toText(error) }, () => process.exit(1)));

for (const method of ['trace', 'debug', 'info', 'log', 'warn', 'error'] as const) {
  const level = method === 'log' ? 'INFO' : method.toUpperCase();
  console[method] = (...values: unknown[]) => post({ log: logLine(level, values) });
}

const [file, exported] = configuration.handler.split('.') as [file: string, exported: string];
const bundle = join(configuration.assetDirectory, `${file}.mjs`);

// Adds its source map to the bundle (bin/npx), so that stacks and debuggers show the TypeScript sources.
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

process.on('message', async (event: string) => {
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
