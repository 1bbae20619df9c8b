import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { projectRoot, synthesize } from '../local/synthesize.ts';
import { readTemplate } from '../local/template.ts';

export interface Variant {
  name: string;
  directory: string;
  bundleBytes: number;
  zippedBytes: number;
}

const PEERS = {
  'empty handler': 'empty',
  'one raw HTTPS call': 'raw-https',
  'bare SDK': 'bare-sdk',
  'Middy, schema at run time': 'middy-run-time',
  'Express 5': 'express',
  Hono: 'hono',
  Powertools: 'powertools',
  Fastify: 'fastify',
};

/** What is measured, by its name in the results. */
export const OURS = 'plant store';
export const BARE = 'bare SDK';

const OUTPUT = join(projectRoot, '.local/bench');

/** The deployed bundle and each peer's. */
export async function buildVariants(): Promise<Variant[]> {
  rmSync(OUTPUT, { recursive: true, force: true });
  const template = readTemplate(await synthesize());
  const ours = variant(OURS, template.functions[0]?.assetDirectory ?? '');
  const peers = await Promise.all(
    Object.entries(PEERS).map(([name, file]) => bundle(name, join(import.meta.dirname, `peers/${file}.ts`))),
  );
  return [ours, ...peers];
}

/** Ours and the frameworks with a store that does nothing, so that only what is theirs is left. */
export async function buildWithoutStore(): Promise<Variant[]> {
  const noStore = { '@aws-sdk/client-dynamodb': join(import.meta.dirname, 'peers/no-store.ts') };
  const builtins = join(projectRoot, 'infra/bundle/node-builtins.ts');
  const aliases = { 'node:crypto': builtins, 'node:http': builtins };
  return Promise.all([
    bundle(`${OURS}, no store`, join(projectRoot, 'functions/create-plant/index.ts'), { ...noStore, ...aliases }),
    ...Object.entries(PEERS)
      .filter(([name]) => !['one raw HTTPS call'].includes(name))
      .map(([name, file]) => bundle(`${name}, no store`, join(import.meta.dirname, `peers/${file}.ts`), noStore)),
  ]);
}

/** Bundled as CDK's NodejsFunction would be told to, the SDK included. */
async function bundle(name: string, entry: string, alias: Record<string, string> = {}): Promise<Variant> {
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
    alias,
    // Express, Fastify and Ajv are CommonJS, which needs a require in an ES module.
    banner: /express|fastify|middy/.test(entry)
      ? { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" }
      : {},
    logLevel: 'error',
  });
  return variant(name, directory);
}

function variant(name: string, directory: string): Variant {
  const file = join(directory, 'index.mjs');
  return {
    name,
    directory,
    bundleBytes: statSync(file).size,
    zippedBytes: gzipSync(readFileSync(file), { level: 9 }).length,
  };
}
