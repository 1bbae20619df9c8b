import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { projectRoot, synthesize } from '../local/synthesize.ts';
import { functionBehind, readTemplate } from '../local/template.ts';

export interface Variant {
  name: string;
  directory: string;
  bundleBytes: number;
  zippedBytes: number;
  /** In place of the token that all others are sent. */
  token?: string;
  /** Besides what all others have. */
  environment?: Record<string, string>;
}

/** What is measured, by its name in the results. */
export const OURS = 'plant store';
export const BARE = 'bare SDK';
export const EMPTY = 'empty handler';
export const WITH_PROVIDER = 'plant store, with a JWT';
export const RAW = 'one raw HTTPS call';
export const PARTS = 'bare handler on the same client';
const MINIFIED = 'minified';

interface Provider {
  context: Record<string, string>;
  token: string;
}

const PEERS = {
  [EMPTY]: 'empty',
  [RAW]: 'raw-https',
  [BARE]: 'bare-sdk',
  'Middy, schema at run time': 'middy-run-time',
  'Express 5': 'express',
  Hono: 'hono',
  Powertools: 'powertools',
  Fastify: 'fastify',
};

const OUTPUT = join(projectRoot, '.local/bench');
const OUR_ENTRY = join(projectRoot, 'functions/create-plant/index.ts');
const peer = (file: string) => join(import.meta.dirname, `peers/${file}.ts`);
/** As in infra/operation-function.ts. */
const HTTP_ALIAS = { 'node:http': join(projectRoot, 'infra/bundle/node-http.ts') };
const OUR_OPTIONS: BuildOptions = { alias: HTTP_ALIAS, external: ['./identity-provider.mjs'], minify: false };

/** The deployed bundle, each peer's, and a bare handler on the function's own client, bundled as the function is. */
export async function buildVariants(deployed: string): Promise<Variant[]> {
  rmSync(OUTPUT, { recursive: true, force: true });
  const alias = { ...HTTP_ALIAS, '@aws-sdk/client-dynamodb': peer('parts-client') };
  return Promise.all([
    variant(OURS, deployed),
    ...Object.entries(PEERS).map(([name, file]) => bundle(name, peer(file))),
    bundle(PARTS, peer('bare-parts'), { ...OUR_OPTIONS, alias }),
  ]);
}

/** The bundle of a stack that takes the JWTs of an identity provider. */
export async function buildWithProvider({ context, token }: Provider): Promise<Variant> {
  const template = readTemplate(await synthesize(join(OUTPUT, 'with-provider'), context));
  const { assetDirectory, environment } = functionBehind(template, 'POST', '/plants');
  return { ...variant(WITH_PROVIDER, assetDirectory), token, environment };
}

/** The function, bundled in other ways. */
export async function buildOtherwise(): Promise<Variant[]> {
  return Promise.all([
    bundle('without the alias of node:http', OUR_ENTRY, { ...OUR_OPTIONS, alias: {} }),
    bundle(MINIFIED, OUR_ENTRY, { ...OUR_OPTIONS, minify: true }),
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
    // Express, Fastify and Ajv are CommonJS, which needs a require in an ES module.
    banner: /express|fastify|middy/.test(entry)
      ? { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" }
      : {},
    logLevel: 'error',
    ...options,
  });
  return variant(name, directory);
}

function variant(name: string, directory: string): Variant {
  const files = readdirSync(directory).map((file) => readFileSync(join(directory, file)));
  const sum = (sizes: number[]) => sizes.reduce((all, size) => all + size, 0);
  return {
    name,
    directory,
    bundleBytes: sum(files.map(({ length }) => length)),
    zippedBytes: sum(files.map((file) => gzipSync(file, { level: 9 }).length)),
  };
}
