import { vi } from 'vitest';

/** Makes each timeout 20 times as long until it is restored, because a busy machine is slow. */
export function lengthenTimeouts(): void {
  const { timeout } = AbortSignal;
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout.call(AbortSignal, 20 * ms));
}
