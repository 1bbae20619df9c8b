// dynalite 4.0.0 has no types of its own.

declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** `path` is the folder of the LevelDB database. Without it, the data is in memory. */
  export default function dynalite(options?: { path?: string; createTableMs?: number }): Server;
}

declare module 'dynalite/db/index.js' {
  type Check = (input: Record<string, unknown>, stored?: object) => { body: object } | null | undefined;

  const db: { checkConditional: Check };
  export default db;
}

declare module 'dynalite/validations/*' {
  const validation: { types: Record<string, unknown> };
  export default validation;
}
