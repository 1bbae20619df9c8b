import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { projectRoot, synthesize } from '../local/synthesize.ts';
import { functionBehind, readTemplate } from '../local/template.ts';

/** A bundled handler. */
export interface Variant {
  name: string;
  directory: string;
  bundleBytes: number;
  zippedBytes: number;
  /** The token of its events. Default: that of the sample event. */
  token?: string;
  /** Further environment variables. */
  environment?: Record<string, string>;
}

/* The names of handlers in the tables. */
export const OURS = 'plant store';
export const BARE = 'bare SDK';
export const EMPTY = 'empty handler';
export const WITH_PROVIDER = 'plant store, with a JWT';
const RAW = 'one raw HTTPS call';
const SAME_CLIENT = 'bare handler on the same client';
export const EXPRESS = 'Express 5';

/** The handlers that are measured at each memory size. */
export const COMPARED = [OURS, RAW, BARE, EXPRESS, SAME_CLIENT];

/** The files of the peers, by their names. */
const PEERS = {
  [EMPTY]: 'empty',
  [RAW]: 'raw-https',
  [BARE]: 'bare-sdk',
  'Middy, schema at run time': 'middy-run-time',
  [EXPRESS]: 'express',
  Hono: 'hono',
};

const OUTPUT = join(projectRoot, '.local/bench');
const OUR_ENTRY = join(projectRoot, 'functions/create-plant/index.ts');
const peer = (file: string) => join(import.meta.dirname, `peers/${file}.ts`);
/** As in infra/functions.ts. */
const HTTP_ALIAS = { 'node:http': join(projectRoot, 'infra/bundle/node-http.ts') };
const OUR_OPTIONS: BuildOptions = { alias: HTTP_ALIAS, external: ['./identity-provider.mjs'], minify: false };

/** The deployed bundle, each peer's, and the bare handler on the function's own client, bundled as the function is. */
export async function buildVariants(deployed: string): Promise<Variant[]> {
  rmSync(OUTPUT, { recursive: true, force: true });
  const alias = { ...HTTP_ALIAS, '@aws-sdk/client-dynamodb': peer('same-client') };
  return Promise.all([
    variant(OURS, deployed),
    ...Object.entries(PEERS).map(([name, file]) => bundle(name, peer(file))),
    bundle(SAME_CLIENT, peer('bare-sdk'), { ...OUR_OPTIONS, alias }),
  ]);
}

/** The bundle of a stack that takes the JWTs of an identity provider. */
export async function buildWithProvider(context: Record<string, string>, token: string): Promise<Variant> {
  const template = readTemplate(await synthesize(join(OUTPUT, 'with-provider'), context));
  const { assetDirectory, environment } = functionBehind(template, 'POST', '/plants');
  return { ...variant(WITH_PROVIDER, assetDirectory), token, environment };
}

/** The function, bundled in other ways. */
export async function buildOtherwise(): Promise<Variant[]> {
  return Promise.all([
    bundle('without the alias of node:http', OUR_ENTRY, { ...OUR_OPTIONS, alias: {} }),
    bundle('minified', OUR_ENTRY, { ...OUR_OPTIONS, minify: true }),
  ]);
}

/** Bundled as CDK's NodejsFunction would be told to, the SDK included. */
async function bundle(name: string, entry: string, options: BuildOptions = {}): Promise<Variant> {
  const directory = join(OUTPUT, name.replaceAll(/\W+/g, '-'));
  mkdirSync(directory, { recursive: true });
  await build({
    entryPoints: [entry],
    outfile: join(directory, 'index.mjs'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    minify: true,
    // Express and Ajv are CommonJS, which needs a require in an ES module.
    banner: /express|middy/.test(entry)
      ? { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" }
      : {},
    logLevel: 'error',
    ...options,
  });
  return variant(name, directory);
}

function variant(name: string, directory: string): Variant {
  const files = readdirSync(directory).map((file) => readFileSync(join(directory, file)));
  const bytes = (contents: Buffer[]) => Buffer.concat(contents).length;
  const zipped = files.map((file) => gzipSync(file, { level: 9 }));
  return { name, directory, bundleBytes: bytes(files), zippedBytes: bytes(zipped) };
}
