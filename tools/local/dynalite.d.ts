// dynalite 4.0.0 has no types of its own.
declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** `path` is the folder of the LevelDB database. Without it, the data is in memory. */
  export default function dynalite(options?: { path?: string; createTableMs?: number }): Server;
}
