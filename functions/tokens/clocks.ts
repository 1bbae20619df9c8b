/** A moment on the system clock (in milliseconds since 1970), and on the clock of this process. */
export interface Moment {
  systemMs: number;
  processMs: number;
}

/** Before any other moment. */
export const LONG_AGO: Moment = { systemMs: -Infinity, processMs: -Infinity };

export function now(): Moment {
  return { systemMs: Date.now(), processMs: performance.now() };
}

/**
 * Returns the milliseconds since a moment, on the clock that shows more of them: the system clock can go back, and the
 * process's may stand still while Lambda freezes the environment.
 */
export function millisecondsSince({ systemMs, processMs }: Moment): number {
  return Math.max(Date.now() - systemMs, performance.now() - processMs);
}
