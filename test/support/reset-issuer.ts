import { beforeEach, vi } from 'vitest';
import type { Issuer, SigningKey } from './issuer.ts';

/** Before each test, lets the issuer publish a key, and sets the time. */
export function resetIssuer(issuer: Issuer, key: SigningKey, now: number): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now });
    // Makes each timeout 20 times as long, because a busy machine is slow.
    const { timeout } = AbortSignal;
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout.call(AbortSignal, 20 * ms));
    issuer.publish(key);
    issuer.requests.length = 0;
    return () => {
      vi.useRealTimers();
      vi.restoreAllMocks();
    };
  });
}
