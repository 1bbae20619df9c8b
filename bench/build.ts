import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundlesWith } from '../test/support/stack.ts';
import { DEVELOPMENT_TOKEN } from '../tools/local/development-token.ts';

/** A bundled handler. */
export interface Handler {
  name: string;
  /** The folder of its bundle, `index.mjs`. */
  folder: string;
  /** The access token of its events. */
  token: string;
}

/** Bundles the function as it is deployed, without and with an identity provider, and its peers. */
export async function buildHandlers(provider: { settings: Record<string, string>; jwt: string }): Promise<Handler[]> {
  const createPlant = { method: 'POST', path: '/plants' };
  return [
    { name: 'plant store', folder: bundlesWith({}).ofFunction(createPlant), token: DEVELOPMENT_TOKEN },
    {
      name: 'plant store, with a JWT',
      folder: bundlesWith(provider.settings).ofFunction(createPlant),
      token: provider.jwt,
    },
    await bundlePeer('bare SDK', 'bare-sdk'),
    // Express is CommonJS, which needs `require` in an ES module.
    await bundlePeer(
      'Express 5',
      'express',
      "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
    ),
  ];
}

/** Bundles a peer and its SDK with usual options of CDK's NodejsFunction. */
async function bundlePeer(name: string, file: string, banner = ''): Promise<Handler> {
  const folder = join(tmpdir(), file);
  await build({
    entryPoints: [join(import.meta.dirname, `peers/${file}.ts`)],
    outfile: join(folder, 'index.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    minify: true,
    banner: { js: banner },
    logLevel: 'error',
  });
  return { name, folder, token: DEVELOPMENT_TOKEN };
}
