const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 1000;

interface Remembered {
  name: string;
  /** Milliseconds since 1970. */
  until: number;
}

/** The names of tokens that were found valid, by the token's digest. Only of valid ones, so that guesses push none out. */
export class RememberedNames {
  /** The longest remembered first. */
  readonly #names = new Map<string, Remembered>();

  get(digest: string): string | undefined {
    const known = this.#names.get(digest);
    if (known && Date.now() < known.until) return known.name;
    this.#names.delete(digest);
    return undefined;
  }

  /** Remembers a name for 60 s, but not beyond `expiresAt` (ms since 1970); of 1000 others, the oldest goes. */
  set(digest: string, name: string, expiresAt: number): void {
    for (const oldest of this.#names.keys()) {
      if (this.#names.size < MAX_REMEMBERED) break;
      this.#names.delete(oldest);
    }
    this.#names.set(digest, { name, until: Math.min(Date.now() + REMEMBERED_MS, expiresAt) });
  }
}
