/** Returns the time on the system clock (in milliseconds since 1970), and on the clock of this process. */
export function now() {
  return { systemMs: Date.now(), processMs: performance.now() };
}

export type Moment = ReturnType<typeof now>;

export const LONG_AGO: Moment = { systemMs: -Infinity, processMs: -Infinity };

/**
 * Returns the milliseconds since a moment, on the clock that shows more of them: the system clock can go back, and the
 * process's may stand still while Lambda freezes the environment.
 */
export function millisecondsSince({ systemMs, processMs }: Moment): number {
  return Math.max(Date.now() - systemMs, performance.now() - processMs);
}
