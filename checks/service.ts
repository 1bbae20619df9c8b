import { setTimeout as sleep } from 'node:timers/promises';

/** An answer as the contract allows it: a Plant under 200, an Error under 400. */
export type Answer =
  | { status: 200; plant: { name: string; tag?: string } }
  | { status: 400; error: number; message: string };

export interface Request {
  method?: string;
  path?: string;
  /** Put over the defaults: a valid token and application/json. An empty one leaves a header out. */
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

const SILENCE_MS = 30_000;
const MOST_THROTTLED = 5;
const THROTTLED_MS = 1000;

/** A plant store at a base URL, seen by a caller with a token. */
export class Service {
  /**
   * Of a command's arguments: the base URL, and the token, which may stand in PLANT_STORE_TOKEN where
   * others cannot read it. Throws the usage where one is missing.
   */
  static of([baseUrl, ...others]: string[], token: string | undefined, usage: string): Service {
    const given = token ?? process.env['PLANT_STORE_TOKEN'];
    if (baseUrl === undefined || others.length > 0 || !given) throw new Error(usage);
    if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
      throw new Error(`BASE_URL was "${baseUrl}"; it must be an http or https address.`);
    }
    return new Service(baseUrl, given);
  }

  readonly baseUrl: string;
  readonly token: string;

  constructor(baseUrl: string, token: string) {
    this.baseUrl = baseUrl.replace(/\/+$/, '');
    this.token = token;
  }

  /**
   * Sends a request, by default a POST to `/plants`, and again a little later where it is throttled.
   * Throws what was seen where the answer has not the contract's shape, or where none comes.
   */
  async send(request: Request): Promise<Answer> {
    for (let throttled = 0; ; throttled += 1) {
      const answer = await this.#sendOnce(request);
      const again = answer.status === 400 && answer.error === 429 && throttled < MOST_THROTTLED;
      if (!again) return answer;
      await sleep(THROTTLED_MS);
    }
  }

  /** Throws a sentence where nothing could hold: nobody answers, or the token is not valid. */
  async refuseIfAway(): Promise<void> {
    const answer = await this.send({ body: '{}' }).catch((error: Error) => {
      // fetch says only that it failed; why stands in the cause. Any other answer is not for here to judge.
      if (error.name === 'TypeError') throw new Error(`${this.baseUrl} does not answer: ${String(error.cause)}.`);
      if (error.name === 'TimeoutError') throw new Error(`${this.baseUrl} does not answer in 30 s.`);
    });
    if (answer?.status === 400 && answer.error === 401) throw new Error(`The token is not valid at ${this.baseUrl}.`);
  }

  async #sendOnce({ method = 'POST', path = '/plants', headers = {}, body }: Request): Promise<Answer> {
    const all = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json', ...headers };
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: Object.entries(all).filter(([, value]) => value !== ''),
      // As bytes: for a string, fetch adds a content type of its own.
      ...(body !== undefined && { body: typeof body === 'string' ? new TextEncoder().encode(body) : body }),
      signal: AbortSignal.timeout(SILENCE_MS),
    });
    return inContract(response.status, response.headers.get('content-type') ?? 'none', await response.text());
  }
}

function inContract(status: number, contentType: string, text: string): Answer {
  const seen = `${status}, ${contentType}, ${text.slice(0, 200)}`;
  if (!/^application\/json(;|$)/i.test(contentType))
    throw new Error(`${seen}; the Content-Type must be application/json`);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Error(`${seen}; the body must be JSON`);
  }
  if (status === 200 && isPlant(body)) return { status, plant: body };
  if (status === 400 && isError(body)) return { status, ...body };
  throw new Error(
    `${seen}; it must be 200 with a Plant (name, tag) or 400 with an Error (error, message), and no more`,
  );
}

function isPlant(body: unknown): body is { name: string; tag?: string } {
  if (!hasOnly(body, ['name', 'tag']) || typeof body['name'] !== 'string') return false;
  return !('tag' in body) || typeof body['tag'] === 'string';
}

function isError(body: unknown): body is { error: number; message: string } {
  if (!hasOnly(body, ['error', 'message'])) return false;
  const { error, message } = body;
  return Number.isInteger(error) && Math.abs(Number(error)) < 2 ** 31 && typeof message === 'string' && message !== '';
}

function hasOnly(body: unknown, members: string[]): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && Object.keys(body).every((member) => members.includes(member));
}
