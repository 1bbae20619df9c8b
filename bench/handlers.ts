import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleWith, EVERYTHING } from '../test/support/stack.ts';
import { DEVELOPMENT_TOKEN } from '../tools/local/development-token.ts';

/** A handler, the folder of its bundle `index.mjs`, and the access token of its events. */
export type Handler = { name: string; folder: string; token: string };

/** Bundles the function as it is deployed, without and with an identity provider, and its peers. The floor is first. */
export async function bundleHandlers(jwt: string): Promise<Handler[]> {
  return [
    await bundlePeer('floor: only the same three HTTPS requests', 'floor', false),
    { name: 'plant store', folder: bundleWith(), token: DEVELOPMENT_TOKEN },
    { name: 'plant store, with a JWT', folder: bundleWith(EVERYTHING), token: jwt },
    await bundlePeer('AWS SDK at its best', 'sdk', true),
    await bundlePeer('AWS SDK with its defaults', 'sdk', false),
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
    alias: { 'node:http': join(import.meta.dirname, '../functions/node-http.cjs') },
    define: { 'process.env.AT_ITS_BEST': atItsBest ? '"true"' : 'undefined' },
    // The alias is CommonJS, which needs `require` in an ES module.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    minify: true,
    logLevel: 'error',
  });
  return { name, folder, token: DEVELOPMENT_TOKEN };
}
