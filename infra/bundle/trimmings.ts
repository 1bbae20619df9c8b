import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';

type EsbuildOptions = Required<Pick<BuildOptions, 'alias' | 'define' | 'external'>>;

const file = (name: string) => join(import.meta.dirname, name);
const builtins = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [`node:${name}`, file('node-builtins.ts')]));

/** What keeps a bundle small and its start fast, as options of esbuild. What each earns: docs/performance.md. */
export const TRIMMINGS: Record<string, Partial<EsbuildOptions>> = {
  'the alias of the credential providers': {
    alias: { '@aws-sdk/credential-provider-node': file('default-credentials.ts') },
  },
  'the alias of node:http': { alias: builtins('http') },
  'the aliases of the other built-ins': { alias: builtins('crypto', 'fs', 'fs/promises', 'process', 'zlib') },
  // The SDK asks whether they are there, which loads them; it gets by without.
  'the two defines': { define: { ReadableStream: 'undefined', crypto: 'undefined' } },
  // The SDK imports them where an operation streams, as none here does.
  'the event streams as an external': { external: ['@smithy/core/event-streams'] },
};

/** Beside the bundle where an identity provider is configured (infra/operation-function.ts), and not there elsewhere. */
const OWN_FILE = './identity-provider.mjs';

/** The options of some trimmings together; of all where none are named. */
export function esbuildOptions(trimmings = Object.values(TRIMMINGS)): EsbuildOptions {
  return {
    alias: Object.fromEntries(trimmings.flatMap(({ alias = {} }) => Object.entries(alias))),
    define: Object.fromEntries(trimmings.flatMap(({ define = {} }) => Object.entries(define))),
    external: [OWN_FILE, ...trimmings.flatMap(({ external = [] }) => external)],
  };
}
