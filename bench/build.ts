import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { esbuildOptions, TRIMMINGS } from '../infra/bundle/trimmings.ts';
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

/** The deployed bundle, each peer's, and the bare SDK's with all that is done to ours before a handler runs. */
export async function buildVariants(deployed: string): Promise<Variant[]> {
  rmSync(OUTPUT, { recursive: true, force: true });
  return Promise.all([
    variant(OURS, deployed),
    ...Object.entries(PEERS).map(([name, file]) => bundle(name, peer(file))),
    bundle(`${BARE}, bundled and primed as ours`, peer('bare-sdk-primed'), esbuildOptions()),
  ]);
}

/** The bundle of a stack that takes the JWTs of an identity provider. */
export async function buildWithProvider({ context, token }: Provider): Promise<Variant> {
  const template = readTemplate(await synthesize(join(OUTPUT, 'with-provider'), context));
  const { assetDirectory, environment } = functionBehind(template, 'POST', '/plants');
  return { ...variant(WITH_PROVIDER, assetDirectory), token, environment };
}

/** Ours without one of its trimmings each. */
export async function buildUntrimmed(): Promise<Variant[]> {
  return Promise.all(
    Object.entries(TRIMMINGS).map(([name, left]) => {
      const options = esbuildOptions(Object.values(TRIMMINGS).filter((each) => each !== left));
      for (const module of Object.keys(options.alias)) {
        // The whole chain of credential providers does not build on what the function's bundle has of these.
        if (module.startsWith('node:')) options.alias[module] = join(import.meta.dirname, 'node-builtins.ts');
      }
      return bundle(`without ${name}`, OUR_ENTRY, options);
    }),
  );
}

/** Ours and two frameworks with a DynamoDB client that does nothing, so that only what is theirs is left. */
export async function buildWithoutDatabase(): Promise<Variant[]> {
  const ours = esbuildOptions();
  const noDatabase = { '@aws-sdk/client-dynamodb': peer('no-database') };
  return Promise.all([
    bundle(OURS, OUR_ENTRY, { ...ours, alias: { ...ours.alias, ...noDatabase } }, 'no-database'),
    ...([EMPTY, 'Express 5', 'Hono'] as const).map((name) =>
      bundle(name, peer(PEERS[name]), { alias: noDatabase }, 'no-database'),
    ),
  ]);
}

/** Bundled as CDK's NodejsFunction would be told to, the SDK included. */
async function bundle(name: string, entry: string, options: BuildOptions = {}, folder = ''): Promise<Variant> {
  const directory = join(OUTPUT, folder, name.replaceAll(/\W+/g, '-'));
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
