import { expect, test } from 'vitest';
import { type FakeResponse, type ReceivedRequest, startFakeService } from '../../test/support/fake-service.ts';
import { HttpClient } from '../../tools/http-client.ts';
import { type CheckedOperation, contractChecks } from './contract-checks.ts';

const TOKEN = `plantstore_${'t'.repeat(43)}`;

const isResponse = (body: unknown): body is object => body instanceof Object;
const TWO_OPERATIONS: CheckedOperation[] = [
  { operationId: 'createPlant', method: 'POST', path: '/plants', needsJson: true, isResponse },
  { operationId: 'getPlant', method: 'GET', path: '/plants/{id}', needsJson: false, isResponse },
];
const titles = contractChecks(TWO_OPERATIONS).map(({ title }) => title);

let responseCount = 0;

function respond(status: number, body: object, headers = {}): FakeResponse {
  responseCount += 1;
  const all = { 'content-type': 'application/json', 'x-amz-apigw-id': `id-${responseCount}`, ...headers };
  return { status, headers: all, body: JSON.stringify(body) };
}
const plant = () => respond(200, { name: 'seven' });
const error = (number: number, headers = {}) => respond(400, { error: number, message: 'x' }, headers);

const isPlant = (path: string) => /^\/plants\/\d+$/.test(path);
const getsPlant = ({ method, path }: ReceivedRequest) => method === 'GET' && isPlant(path);

/** A correct service with `TWO_OPERATIONS`. */
function twoOperations({ method, path, headers, body }: ReceivedRequest): FakeResponse {
  const creates = method === 'POST' && /^\/plants\/?$/.test(path);
  if (!creates && !(method === 'GET' && /^\/plants\/[^/]+\/?$/.test(path))) return error(404);
  const { authorization = '', 'content-type': contentType } = headers;
  if (authorization !== `Bearer ${TOKEN}`) {
    const challengeError = authorization.startsWith('Bearer ') ? ', error="invalid_token"' : '';
    return error(401, { 'www-authenticate': `Bearer realm="x"${challengeError}` });
  }
  if (!creates) return plant();
  return error(contentType === 'application/json' || body === '' ? 400 : 415);
}

/** The same service with CORS: it accepts preflights that a browser sends. */
function twoOperationsWithCors(sent: ReceivedRequest, allowOrigin = 'https://a.example'): FakeResponse {
  const { method, path, headers } = sent;
  const allowed = path === '/plants' ? 'POST' : isPlant(path) && 'GET';
  const { origin = '', authorization, 'access-control-request-method': requested, 'content-type': type } = headers;
  if (method === 'OPTIONS' && allowed) {
    const isPreflight =
      URL.canParse(origin) && requested === allowed && authorization === undefined && type === undefined;
    if (!isPreflight) return error(401);
    const methods = { 'access-control-allow-methods': `PUT , ${requested},OPTIONS` };
    return respond(200, {}, { ...methods, 'access-control-allow-origin': 'https://a.example' });
  }
  const response = twoOperations(sent);
  if (origin !== allowOrigin) return response;
  return { ...response, headers: { ...response.headers, 'access-control-allow-origin': origin } };
}

/** The response to a preflight of a known path, which allows any origin to use these methods. */
const anyOrigin = ({ path }: ReceivedRequest, methods = 'GET,POST') =>
  (path === '/plants' || isPlant(path)) &&
  respond(200, {}, { 'access-control-allow-methods': methods, 'access-control-allow-origin': '*' });

/** Returns the titles of the checks that fail on a service. */
async function failedChecks(service: (sent: ReceivedRequest) => FakeResponse): Promise<string[]> {
  const client = new HttpClient(await startFakeService(service), TOKEN);
  const failed: string[] = [];
  for (const { title, run } of contractChecks(TWO_OPERATIONS)) await run(client).catch(() => failed.push(title));
  return failed;
}

test.each<[string, (sent: ReceivedRequest) => FakeResponse]>([
  ['has no CORS headers', twoOperations],
  ['has CORS headers', (sent) => twoOperationsWithCors(sent)],
  [
    'allows any origin in its preflights',
    (sent) => (sent.method === 'OPTIONS' && anyOrigin(sent)) || twoOperations(sent),
  ],
])('all checks of two operations pass on a service that %s', async (_, service) => {
  expect(await failedChecks(service)).toEqual([]);
});

const notFound = (path: string, methods: string) => `${path} with ${methods} gets error 404`;
const ALL_METHODS = 'POST, GET, PUT, PATCH, DELETE, OPTIONS';
const OTHER_METHODS_OF_PLANT = notFound('/plants/{id}', 'POST, PUT, PATCH, DELETE');

test('checks the unknown methods of known paths, and all methods of unknown paths', () => {
  expect(titles.filter((title) => title.endsWith(' gets error 404') && !title.startsWith('OPTIONS'))).toEqual([
    ...['/', '/none/a/b', '/plant', '/plants/{id}/none'].map((path) => notFound(path, ALL_METHODS)),
    notFound('/plants', 'GET, PUT, PATCH, DELETE'),
    OTHER_METHODS_OF_PLANT,
  ]);
  expect(new Set(titles).size).toBe(titles.length);
});

test('sends a body that is not text to unknown paths, and only its own ids', async () => {
  const requests: ReceivedRequest[] = [];
  await failedChecks((sent) => {
    requests.push(sent);
    return twoOperations(sent);
  });
  const ids = requests.flatMap(({ path }) => /(?<=^\/plants\/)(?!none)[^/]+/.exec(path) ?? []);
  expect([...new Set(ids)]).toEqual([expect.stringMatching(/^92\d{17}$/)]);
  const toUnknownPath = requests.filter(({ path, method }) => path === '/plant' && method !== 'GET');
  for (const { headers, bytes } of toUnknownPath) {
    expect(headers).toMatchObject({ 'content-type': 'application/octet-stream', authorization: `Bearer ${TOKEN}` });
    expect(bytes.toString('latin1')).toBe('\xff\x00');
  }
  expect(toUnknownPath).toHaveLength(5);
});

const preflights = ({ method, path }: ReceivedRequest, isPath = (_: string) => true) =>
  method === 'OPTIONS' && isPath(path);
/** The correct response with another request id, if one is given. */
function withId(sent: ReceivedRequest, id: string | string[] | undefined): FakeResponse {
  const { headers, ...rest } = twoOperations(sent);
  return { ...rest, headers: { ...headers, ...(id !== undefined && { 'x-amz-apigw-id': id }) } };
}

const BELOW_PLANT = notFound('/plants/{id}/none', ALL_METHODS);
const INVALID_TOKENS = titles.filter((title) => /^GET .+ gets error 401/.test(title));
const REQUEST_IDS = titles.filter((title) => title.startsWith('each error response has a new request id'));
const PREFLIGHTS = titles.filter((title) => title.startsWith('OPTIONS '));

/** The broken response to a request, or false for the correct one; and the titles of the checks that fail. */
test.each<[string, (sent: ReceivedRequest) => FakeResponse | false, string[]]>([
  ['responds to the second operation without a token', (sent) => getsPlant(sent) && plant(), INVALID_TOKENS],
  [
    'has the token in error responses of the second operation',
    (sent) => {
      const { body, ...rest } = twoOperations(sent);
      return getsPlant(sent) && { ...rest, body: body.replace('"x"', `"${sent.headers.authorization}"`) };
    },
    INVALID_TOKENS.filter((title) => !/without Auth|scheme Basic|malformed/.test(title)),
  ],
  ['does not have the second operation', (sent) => getsPlant(sent) && error(404), INVALID_TOKENS],
  ['deletes plants', (sent) => sent.method === 'DELETE' && isPlant(sent.path) && plant(), [OTHER_METHODS_OF_PLANT]],
  ['has another error below a plant', ({ path }) => /^\/plants\/\d+\/none$/.test(path) && error(400), [BELOW_PLANT]],
  [
    'allows other origins to send only the first operation',
    (sent) => preflights(sent, isPlant) && anyOrigin(sent, 'OPTIONS,POST'),
    PREFLIGHTS.slice(1),
  ],
  ['hides its responses from other origins', (sent) => preflights(sent) && twoOperationsWithCors(sent), PREFLIGHTS],
  ['allows another origin than its preflights', (sent) => twoOperationsWithCors(sent, 'https://b.example'), PREFLIGHTS],
  [
    'responds to a preflight with error 500',
    (sent) => preflights(sent, (path) => path === '/plants') && error(500, { 'access-control-allow-methods': 'POST' }),
    PREFLIGHTS.slice(0, 1),
  ],
  ['has no request id for the second operation', (sent) => getsPlant(sent) && withId(sent, ''), REQUEST_IDS],
  ['has no request id for unknown paths', (sent) => sent.path === '/none/a/b' && withId(sent, ''), REQUEST_IDS],
  ['uses the request id that a client sends', (sent) => withId(sent, sent.headers['x-amz-apigw-id']), REQUEST_IDS],
])('checks fail on a service that %s', async (_, change, expected) => {
  expect(await failedChecks((sent) => change(sent) || twoOperations(sent))).toEqual(expected);
});
