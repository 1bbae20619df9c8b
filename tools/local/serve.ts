import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectRoot } from '../project-root.ts';
import { errorText } from '../shared/error-text.ts';
import { hideRequestLines } from './log.ts';
import { rejectForeignRequests } from './loopback.ts';
import { watchModules } from './modules.ts';

const CONTRACT = join(projectRoot, 'openapi.yaml');
const MAX_LOADING_MS = 5000;

/**
 * Serves the operations on 127.0.0.1. After a change, loads what has changed and what depends on it again. Requests
 * that arrive meanwhile wait. Requests that are running finish with the old code.
 *
 * @param instructions are printed when the service is ready
 */
export async function serve(port: number, instructions: string): Promise<never> {
  let listener = Promise.withResolvers<RequestListener>();
  const server = createServer(async (request, response) => (await listener.promise)(request, response));
  // The operations have ALLOW_ORIGINS for other origins.
  rejectForeignRequests(server, { acceptOrigins: true });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  hideRequestLines();
  // An error after the response, for example because of a forgotten `await`, does not end the service.
  for (const event of ['unhandledRejection', 'uncaughtException']) process.on(event, (thrown) => console.error(thrown));

  let isLoaded = false;
  let shownRoutes = '';
  // If a function cannot be loaded, any new or changed source file can be the correction.
  const isOtherSource = (file: string) => file === CONTRACT || (!isLoaded && /\.[jt]s(on)?$/.test(file));
  const modules = await watchModules(projectRoot, isOtherSource);

  /** Loads the functions and the gateway, and resolves `listener`. Returns why functions cannot be loaded. */
  async function load({ resolve }: typeof listener): Promise<string[]> {
    const { importRoutes } = await modules.import<typeof import('./routes.ts')>('/tools/local/routes.ts');
    const { createGateway, routesText } =
      await modules.import<typeof import('./gateway.ts')>('/tools/local/gateway.ts');
    const routes = importRoutes();
    if (routesText(routes) !== shownRoutes) console.log(routesText(routes));
    shownRoutes = routesText(routes);
    resolve(createGateway(routes, console.log));
    const loaded = await Promise.allSettled(routes.map(({ handler }) => handler));
    await modules.watching;
    return loaded.flatMap((result) => (result.status === 'rejected' ? [errorText(result.reason)] : []));
  }

  let start = performance.now();
  for (let isFirst = true; ; isFirst = false) {
    const current = listener;
    const loading = load(current)
      .catch((thrown) => {
        current.resolve(failingWith(errorText(thrown)));
        return [errorText(thrown)];
      })
      .then((reasons) => {
        // Newer code is being loaded.
        if (current !== listener) return;
        isLoaded = reasons.length === 0;
        // Several functions can fail because of the same module.
        for (const reason of new Set(reasons)) console.error(reason);
        if (isFirst) console.log(instructions);
        else if (isLoaded) console.log(`Reloaded in ${Math.round(performance.now() - start)} ms.`);
      });
    await modules.nextChange();
    start = performance.now();
    isLoaded = false;
    listener = Promise.withResolvers();
    // Requests that still wait for the previous code wait for the next code.
    current.resolve(listener.promise);
    const changes = await modules.settledChanges();
    // The previous code can still be reading old files. But it can also wait for something that never comes.
    await Promise.race([loading, sleep(MAX_LOADING_MS)]);
    for (const [file, event] of changes) {
      modules.invalidate(file, event);
    }
  }
}

/** Returns a listener that responds to each request with error 500 and a reason. */
function failingWith(message: string): RequestListener {
  return (request, response) => {
    // Many clients read no response before they have sent the whole body.
    request.resume();
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: 500, message }));
  };
}
