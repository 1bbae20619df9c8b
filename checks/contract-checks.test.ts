import { expect, test } from 'vitest';
import { HttpClient } from '../cli/http-client.ts';
import { type FakeResponse, type Sent, startFakeService } from '../test/support/fake-service.ts';
import { contractChecks, type SmokeOperation } from './contract-checks.ts';

const TOKEN = `plantstore_${'t'.repeat(43)}`;

const TWO_OPERATIONS: SmokeOperation[] = [
  { operationId: 'createPlant', method: 'POST', path: '/plants', needsJson: true },
  { operationId: 'getPlant', method: 'GET', path: '/plants/{id}', needsJson: false },
];
const titles = contractChecks(TWO_OPERATIONS).map(({ title }) => title);

let responses = 0;

function respond(status: number, body: object, headers = {}): FakeResponse {
  responses += 1;
  const all = { 'content-type': 'application/json', 'x-amz-apigw-id': `id-${responses}`, ...headers };
  return { status, headers: all, body: JSON.stringify(body) };
}
const plant = () => respond(200, { name: 'seven' });
const error = (number: number, headers = {}) => respond(400, { error: number, message: 'x' }, headers);

const isPlant = (path: string) => /^\/plants\/\d+$/.test(path);
const getsPlant = ({ method, path }: Sent) => method === 'GET' && isPlant(path);

/** A service with `TWO_OPERATIONS`. */
function twoOperations({ method, path, headers, body }: Sent): FakeResponse {
  const creates = method === 'POST' && /^\/plants\/?$/.test(path);
  if (!creates && !(method === 'GET' && /^\/plants\/[^/]+\/?$/.test(path))) return error(404);
  const { authorization = '', 'content-type': contentType } = headers;
  if (authorization !== `Bearer ${TOKEN}`) {
    const named = authorization.startsWith('Bearer ') ? ', error="invalid_token"' : '';
    return error(401, { 'www-authenticate': `Bearer realm="x"${named}` });
  }
  if (!creates) return plant();
  return error(contentType === 'application/json' || body === '' ? 400 : 415);
}

/** The same service, which also allows pages of another origin, if they send a preflight as a browser does. */
function twoOperationsForPages(sent: Sent, allowOrigin = 'https://a.example'): FakeResponse {
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

/** The titles of the checks of `TWO_OPERATIONS` that fail. */
async function failing(service: (sent: Sent) => FakeResponse): Promise<string[]> {
  const client = new HttpClient(await startFakeService(service), TOKEN);
  const failed: string[] = [];
  for (const { title, run } of contractChecks(TWO_OPERATIONS)) await run(client).catch(() => failed.push(title));
  return failed;
}

test.each<[string, (sent: Sent) => FakeResponse]>([
  ['has both', twoOperations],
  ['allows pages of another origin', (sent) => twoOperationsForPages(sent)],
])('all checks of two operations pass on a service that %s', async (_, service) => {
  expect(await failing(service)).toEqual([]);
});

const missing = (path: string, methods: string) =>
  `${path} by ${methods}, with different headers and bodies, is error 404`;
const ALL_METHODS = 'POST, GET, PUT, PATCH, DELETE, OPTIONS, HEAD';
const OTHERS_OF_PLANT = missing('/plants/{id}', 'POST, PUT, PATCH, DELETE, HEAD');

test('checks every other method of the known paths, and every method of the paths near them', () => {
  expect(titles.filter((title) => title.includes('with different headers'))).toEqual([
    ...['/', '/none/a/b', '/plant', '/plants/{id}/none'].map((path) => missing(path, ALL_METHODS)),
    missing('/plants', 'GET, PUT, PATCH, DELETE, HEAD'),
    OTHERS_OF_PLANT,
  ]);
  expect(new Set(titles).size).toBe(titles.length);
});

test('sends requests to missing paths in every way, not always with the same method, and only with its own ids', async () => {
  const all: Sent[] = [];
  await failing((sent) => {
    all.push(sent);
    return twoOperations(sent);
  });
  const ids = all.flatMap(({ path }) => /(?<=^\/plants\/)(?!none)[^/]+/.exec(path) ?? []);
  expect([...new Set(ids)]).toEqual([expect.stringMatching(/^92\d{17}$/)]);
  const waysTo = (pattern: RegExp) =>
    all
      .filter(({ path, method }) => pattern.test(path) && !/GET|HEAD/.test(method))
      .map(({ headers, bytes }) => `${headers['content-type']} ${headers.authorization} ${bytes.toString('latin1')}`);
  const ways = [/^\/none\/a\/b$/, /^\/plant$/, /^\/plants\/\d+\/none$/].map(waysTo);
  expect(new Set(ways.flat())).toEqual(
    new Set([
      `application/json Bearer ${TOKEN} {}`,
      'text/plain undefined x',
      `application/x-www-form-urlencoded Bearer ${TOKEN} id=1&name=x`,
      `application/octet-stream Bearer ${TOKEN} \xff\x00`,
      'undefined undefined {}',
    ]),
  );
  expect(new Set(ways.map(([first]) => first)).size).toBe(ways.length);
});

const INVALID_TOKENS = titles.filter((title) => /^GET .+ is error 401/.test(title));
const REQUEST_IDS = titles.filter((title) => title.startsWith('each error response has a request id of its own'));
const PREFLIGHTS = titles.filter((title) => title.startsWith('OPTIONS '));

test.each<[string, (sent: Sent) => FakeResponse | undefined, string[]]>([
  [
    'responds to the second operation without a token',
    (sent) => (getsPlant(sent) ? plant() : undefined),
    INVALID_TOKENS,
  ],
  [
    'shows the token in errors of the second operation',
    (sent) => {
      const { body, ...rest } = twoOperations(sent);
      return getsPlant(sent) ? { ...rest, body: body.replace('"x"', `"${sent.headers.authorization}"`) } : undefined;
    },
    INVALID_TOKENS.filter((title) => !/without Auth|another scheme|another form/.test(title)),
  ],
  ['does not have the second operation', (sent) => (getsPlant(sent) ? error(404) : undefined), INVALID_TOKENS],
  [
    'deletes plants',
    ({ method, path }) => (method === 'DELETE' && isPlant(path) ? plant() : undefined),
    [OTHERS_OF_PLANT],
  ],
  [
    'has something below a plant',
    ({ path }) => (/^\/plants\/\d+\/none$/.test(path) ? error(400) : undefined),
    [missing('/plants/{id}/none', ALL_METHODS)],
  ],
  [
    'allows pages to send only the first operation',
    ({ method, path }) =>
      method === 'OPTIONS' && isPlant(path)
        ? respond(200, {}, { 'access-control-allow-methods': 'OPTIONS,POST' })
        : undefined,
    PREFLIGHTS.slice(1),
  ],
  [
    'allows pages to send requests, and not to read the responses',
    (sent) => (sent.method === 'OPTIONS' ? twoOperationsForPages(sent) : undefined),
    PREFLIGHTS,
  ],
  [
    'allows pages to read only the responses to another origin',
    (sent) => twoOperationsForPages(sent, 'https://b.example'),
    PREFLIGHTS,
  ],
  [
    'fails if it gets a preflight',
    ({ method, path }) =>
      method === 'OPTIONS' && path === '/plants' ? error(500, { 'access-control-allow-methods': 'POST' }) : undefined,
    PREFLIGHTS.slice(0, 1),
  ],
  [
    'has no request id in responses of the second operation',
    (sent) => {
      const { headers, ...rest } = twoOperations(sent);
      return getsPlant(sent) ? { ...rest, headers: { ...headers, 'x-amz-apigw-id': '' } } : undefined;
    },
    REQUEST_IDS,
  ],
  [
    'has no request id in responses to unknown paths',
    ({ path }) => (path === '/' ? { ...error(404), headers: { 'content-type': 'application/json' } } : undefined),
    REQUEST_IDS,
  ],
  [
    'has the request id that a client sends',
    (sent) => {
      const { headers, ...rest } = twoOperations(sent);
      const chosen = sent.headers['x-amz-apigw-id'];
      return { ...rest, headers: { ...headers, ...(chosen !== undefined && { 'x-amz-apigw-id': chosen }) } };
    },
    REQUEST_IDS,
  ],
])('the checks notice a service that %s', async (_, change, expected) => {
  expect(await failing((sent) => change(sent) ?? twoOperations(sent))).toEqual(expected);
});
