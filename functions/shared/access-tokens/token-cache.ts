const CACHED_MS = 60_000;
const MAX_TOKENS = 1000;

/** The names of valid tokens, by the token's digest. Guesses are not in it, so they cannot push valid tokens out. */
export class TokenCache {
  /** The oldest first. `until` is in milliseconds since 1970. */
  readonly #tokens = new Map<string, { name: string; until: number }>();

  get(digest: string): string | undefined {
    const cached = this.#tokens.get(digest);
    if (cached && Date.now() < cached.until) return cached.name;
    this.#tokens.delete(digest);
    return undefined;
  }

  /** Keeps a name for 60 s, but not beyond `expiresAt` (ms since 1970). If there are 1,000 others, the oldest goes. */
  set(digest: string, name: string, expiresAt: number): void {
    for (const oldest of this.#tokens.keys()) {
      if (this.#tokens.size < MAX_TOKENS) break;
      this.#tokens.delete(oldest);
    }
    this.#tokens.set(digest, { name, until: Math.min(Date.now() + CACHED_MS, expiresAt) });
  }
}
