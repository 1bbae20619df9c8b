import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import type { StackSettings } from '../infra/settings.ts';
import { DEVELOPMENT_TOKEN } from '../model/development-token.ts';
import { bundlesWith, createPlant } from '../test/support/stack.ts';

/** A bundled handler. */
export interface Handler {
  name: string;
  /** The folder of its bundle, `index.mjs`. */
  folder: string;
  /** The access token of its events. */
  token: string;
}

/** Bundles the function as it is deployed, without and with an identity provider, and its peers. */
export async function buildHandlers(provider: { settings: Partial<StackSettings>; jwt: string }): Promise<Handler[]> {
  const define = { 'process.env.WARM_UP': 'true' };
  // Express is CommonJS, which needs `require` in an ES module.
  const banner = { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" };
  return [
    { name: 'plant store', folder: bundlesWith({}).ofFunction(createPlant), token: DEVELOPMENT_TOKEN },
    {
      name: 'plant store, with a JWT',
      folder: bundlesWith(provider.settings).ofFunction(createPlant),
      token: provider.jwt,
    },
    await bundlePeer('bare SDK, warmed up', 'bare-sdk', { define }),
    await bundlePeer('bare SDK', 'bare-sdk'),
    await bundlePeer('Express 5, warmed up', 'express', { define, banner }),
    await bundlePeer('Express 5', 'express', { banner }),
  ];
}

/** Bundles a peer and its SDK with usual options of CDK's NodejsFunction. */
async function bundlePeer(name: string, file: string, options: BuildOptions = {}): Promise<Handler> {
  const folder = join(tmpdir(), name);
  await build({
    entryPoints: [join(import.meta.dirname, `peers/${file}.ts`)],
    outfile: join(folder, 'index.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    minify: true,
    logLevel: 'error',
    ...options,
  });
  return { name, folder, token: DEVELOPMENT_TOKEN };
}
