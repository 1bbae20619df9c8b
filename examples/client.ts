/** The contract's Error. A program decides by `error`, because each failure has the status 400. */
export class ApiError extends Error {
  readonly error: number;

  constructor({ error, message }: { error: number; message: string }) {
    super(message);
    this.error = error;
  }
}

/** The members with `format: int64` in the contract. Each is a bigint. */
const INT64_MEMBERS = ['id'];
const REPEATED_ERRORS = [429, 500, 503, 504];
const MAX_ATTEMPTS = 5;

// TypeScript has no types yet for `rawJSON` and the third argument of a reviver.
type Reviver = (member: string, value: unknown, context: { source: string }) => unknown;
interface ExactJson {
  parse<Body>(text: string, reviver: Reviver): Body;
  rawJSON(text: string): unknown;
}
const { parse, rawJSON } = JSON as unknown as ExactJson;
const toBigint: Reviver = (member, value, { source }) => (INT64_MEMBERS.includes(member) ? BigInt(source) : value);
const toDigits = (_: string, value: unknown) => (typeof value === 'bigint' ? rawJSON(String(value)) : value);

/**
 * Returns a function that sends a request and returns the body of a 200.
 *
 * @throws in that function, an ApiError for a 400; the error of `fetch` if there is no response within 30 s
 */
export function plantStore(baseUrl: string, token: string) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return async <Body>(method: string, path: string, content?: object): Promise<Body> => {
    const body = content ? JSON.stringify(content, toDigits) : null;
    for (let attempt = 1; ; attempt += 1) {
      let seconds = Math.random() * 2 ** attempt;
      try {
        const response = await fetch(baseUrl + path, { method, headers, body, signal: AbortSignal.timeout(30_000) });
        if (response.ok) return parse<Body>(await response.text(), toBigint);
        seconds = Number(response.headers.get('Retry-After')) || seconds;
        throw new ApiError(parse(await response.text(), toBigint));
      } catch (thrown) {
        const isFinal = thrown instanceof ApiError && !REPEATED_ERRORS.includes(thrown.error);
        if (isFinal || attempt === MAX_ATTEMPTS) throw thrown;
      }
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  };
}
