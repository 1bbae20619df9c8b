/** A revoked token stays valid for this time. */
export const CACHED_MS = 60_000;
const MAX_TOKENS = 1000;

/** Maps the digests of valid tokens to their names. Invalid tokens are not cached, so they cannot evict valid ones. */
export class TokenCache {
  /** In order of insertion. `untilMs` is in milliseconds since 1970. */
  readonly #tokens = new Map<string, { name: string; untilMs: number }>();

  get(digest: string): string | undefined {
    const cached = this.#tokens.get(digest);
    if (cached && Date.now() < cached.untilMs) return cached.name;
    this.#tokens.delete(digest);
    return undefined;
  }

  /**
   * Caches the name of a valid token. Evicts the oldest of 1,000 tokens.
   *
   * @param untilMs in milliseconds since 1970
   */
  set(digest: string, name: string, untilMs: number): void {
    const [oldest = ''] = this.#tokens.keys();
    if (this.#tokens.size === MAX_TOKENS) this.#tokens.delete(oldest);
    this.#tokens.set(digest, { name, untilMs });
  }
}
