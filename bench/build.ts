import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { StackSettings } from '../infra/settings.ts';
import { bundleWith } from '../test/support/stack.ts';
import { DEVELOPMENT_TOKEN } from '../tools/local/development-token.ts';
import { projectRoot } from '../tools/project-root.ts';

/** A bundled handler. */
export interface Handler {
  name: string;
  /** The folder of its bundle, `index.mjs`. */
  folder: string;
  /** The access token of its events. */
  token: string;
}

/** The row with which the others are compared. */
export const BASELINE = 'SDK client at its best';

/** Bundles the function as it is deployed, without and with an identity provider, and its peers. */
export async function buildHandlers(provider: { settings: Partial<StackSettings>; jwt: string }): Promise<Handler[]> {
  return [
    { name: 'plant store', folder: bundleWith(), token: DEVELOPMENT_TOKEN },
    {
      name: 'plant store, with a JWT',
      folder: bundleWith(provider.settings),
      token: provider.jwt,
    },
    await bundlePeer(BASELINE, 'sdk', true),
    await bundlePeer('Middy and SDK client at its best', 'middy', true),
    await bundlePeer('SDK client with its defaults', 'sdk', false),
    await bundlePeer('Express 5', 'express', false),
  ];
}

/** Bundles a peer with the options of infra/function.ts that make it faster, and minified. */
async function bundlePeer(name: string, file: string, atItsBest: boolean): Promise<Handler> {
  const folder = join(tmpdir(), name);
  await build({
    entryPoints: [join(import.meta.dirname, `peers/${file}.ts`)],
    outfile: join(folder, 'index.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    alias: { 'node:http': join(projectRoot, 'infra/node-http.cjs') },
    define: { 'process.env.AT_ITS_BEST': atItsBest ? '"true"' : 'undefined' },
    // Express and the alias are CommonJS, which needs `require` in an ES module.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    minify: true,
    logLevel: 'error',
  });
  return { name, folder, token: DEVELOPMENT_TOKEN };
}
