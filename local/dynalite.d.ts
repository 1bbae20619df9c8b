// dynalite 4.0.0 ships no types.
declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** `path` is the LevelDB folder; without it the data is in memory. */
  export default function dynalite(options?: { path?: string; createTableMs?: number }): Server;
}
