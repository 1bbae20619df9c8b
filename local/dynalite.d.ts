// dynalite 4.0.0 ships no types.
declare module 'dynalite' {
  import type { Server } from 'node:http';

  interface DynaliteOptions {
    /** The LevelDB folder; without it the data is in memory. */
    path?: string;
    createTableMs?: number;
  }

  export default function dynalite(options?: DynaliteOptions): Server;
}
