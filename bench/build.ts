import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { projectRoot } from '../tools/project-root.ts';

/** A bundled handler. */
export interface Variant {
  name: string;
  directory: string;
  bundleBytes: number;
  /** The access token of its events. Default: the sample event's. */
  token?: string;
  /** Additional environment variables. */
  environmentVariables?: Record<string, string>;
}

/* The names of the handlers in the tables. */
export const PLANT_STORE = 'plant store';
export const BARE_SDK = 'bare SDK';
export const EMPTY = 'empty handler';
export const WITH_JWT = 'plant store, with a JWT';
const RAW_HTTPS = 'one raw HTTPS call';
const SAME_CLIENT = 'bare handler on the same client';
export const EXPRESS = 'Express 5';

/** The handlers that are measured at every memory size. */
export const AT_EVERY_SIZE = [PLANT_STORE, RAW_HTTPS, BARE_SDK, EXPRESS, SAME_CLIENT];

/** The peers' files by name. */
const PEERS = {
  [EMPTY]: 'empty',
  [RAW_HTTPS]: 'raw-https',
  [BARE_SDK]: 'bare-sdk',
  'Middy, schema at run time': 'middy-run-time',
  [EXPRESS]: 'express',
  Hono: 'hono',
};

const OUTPUT = join(projectRoot, '.local/bench');
const ENTRY = join(projectRoot, 'functions/create-plant/index.ts');
const peer = (file: string) => join(import.meta.dirname, `peers/${file}.ts`);
const HTTP_ALIAS = { 'node:http': join(projectRoot, 'infra/bundle/node-http.ts') };
/** The options of infra/functions.ts, without an identity provider. */
const DEPLOYED_OPTIONS: BuildOptions = {
  alias: HTTP_ALIAS,
  define: { 'process.env.TOKEN_ISSUER': 'undefined' },
  minify: false,
};

/** Bundles the function as it is deployed, all peers, and the bare handler on the function's DynamoDB client. */
export async function buildVariants(): Promise<Variant[]> {
  const alias = { ...HTTP_ALIAS, '@aws-sdk/client-dynamodb': peer('same-client') };
  return Promise.all([
    bundle(PLANT_STORE, ENTRY, DEPLOYED_OPTIONS),
    ...Object.entries(PEERS).map(([name, file]) => bundle(name, peer(file))),
    bundle(SAME_CLIENT, peer('bare-sdk'), { ...DEPLOYED_OPTIONS, alias }),
  ]);
}

/** Bundles the function with the code for an identity provider. */
export async function buildWithJwt(environmentVariables: Record<string, string>, token: string): Promise<Variant> {
  return { ...(await bundle(WITH_JWT, ENTRY, { ...DEPLOYED_OPTIONS, define: {} })), token, environmentVariables };
}

/** Bundles the function with alternative esbuild options. */
export async function buildAlternatives(): Promise<Variant[]> {
  return Promise.all([
    bundle('with the original node:http', ENTRY, { ...DEPLOYED_OPTIONS, alias: {} }),
    bundle('minified', ENTRY, { ...DEPLOYED_OPTIONS, minify: true }),
  ]);
}

/** Bundles a handler and its SDK with usual options of CDK's NodejsFunction. */
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
    // Express and Ajv are CommonJS, which needs `require` in an ES module.
    banner: /express|middy/.test(entry)
      ? { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" }
      : {},
    logLevel: 'error',
    ...options,
  });
  return { name, directory, bundleBytes: statSync(join(directory, 'index.mjs')).size };
}
