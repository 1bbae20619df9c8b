import createClient from 'openapi-fetch';
import { INT64_MEMBERS, type paths } from './plant-store.ts';

const REPEATED_ERRORS = [429, 500, 503, 504];
const MAX_ATTEMPTS = 5;

// TypeScript has no types yet for `rawJSON` and the third argument of a reviver.
type Reviver = (this: unknown, name: string, value: unknown, context: { source: string }) => unknown;
type ExactJson = { parse(text: string, reviver: Reviver): { error: number }; rawJSON(text: string): unknown };
const { parse, rawJSON } = JSON as unknown as ExactJson;
const toDigits = (_: string, value: unknown) => (typeof value === 'bigint' ? rawJSON(String(value)) : value);
const toNumbers = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(toNumbers) : typeof value === 'bigint' ? Number(value) : value;
const toBigints: Reviver = function (name, value, { source }) {
  // A list's items have no name, so they first become bigints. If the list is not one of int64s, they become numbers
  // again.
  if (!Array.isArray(this) && !INT64_MEMBERS.has(name)) return toNumbers(value);
  return typeof value === 'number' && /^-?\d+$/.test(source) ? BigInt(source) : value;
};

/**
 * Sends a request up to five times after temporary errors, but only twice after a status 5xx or no response in 30 s.
 */
async function send(request: Request): Promise<Response> {
  for (let attempt = 1, lost = 0; ; attempt += 1) {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(30_000)]);
    const received = await fetch(request.clone(), { signal })
      .then(async (response) => {
        if (response.status >= 500) throw new Error(`${request.url} responded with status ${response.status}.`);
        return { response, text: await response.text() };
      })
      .catch((thrown) => {
        lost += 1;
        if (lost === 2 || attempt === MAX_ATTEMPTS || request.signal.aborted) throw thrown;
      });
    if (received) {
      const { ok, status, headers } = received.response;
      if (![200, 400].includes(status) || !headers.get('Content-Type')?.startsWith('application/json'))
        throw new Error(`${request.url} responded with status ${status}, and not as in openapi.yaml.`);
      const body = parse(received.text, toBigints);
      const isFinal = ok || attempt === MAX_ATTEMPTS || !REPEATED_ERRORS.includes(body.error);
      const response = new Response(received.text, received.response);
      // Without a length, openapi-fetch would not call `json`.
      response.headers.set('Content-Length', 'known');
      if (isFinal) return Object.assign(response, { json: async () => body });
    }
    const seconds = Number(received?.response.headers.get('Retry-After')) || Math.random() * 2 ** attempt;
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

/**
 * Returns a client of the operations in openapi.yaml. Each int64 is a bigint. A call throws if there is no
 * response, or one that is not in the contract.
 */
export function plantStore(baseUrl: string, token: string) {
  const options = { baseUrl, headers: { Authorization: `Bearer ${token}` }, fetch: send };
  return createClient<paths>({ ...options, bodySerializer: (body) => JSON.stringify(body, toDigits) });
}
