import { expect, test } from 'vitest';
import { HttpClient } from '../cli/http-client.ts';
import { type Answered, type Sent, startStandIn } from '../test/support/stand-in-service.ts';
import { contractChecks, type SmokeOperation } from './contract-checks.ts';

const TOKEN = `plantstore_${'t'.repeat(43)}`;

const TWO_OPERATIONS: SmokeOperation[] = [
  { operationId: 'createPlant', method: 'POST', path: '/plants', needsJson: true },
  { operationId: 'getPlant', method: 'GET', path: '/plants/{id}', needsJson: false },
];

let answers = 0;

function answer(status: number, body: object, headers = {}): Answered {
  answers += 1;
  const all = { 'content-type': 'application/json', 'x-amz-apigw-id': `id-${answers}`, ...headers };
  return { status, headers: all, body: JSON.stringify(body) };
}

function refusal(error: number, headers = {}): Answered {
  return answer(400, { error, message: 'x' }, headers);
}

/** A service as `TWO_OPERATIONS` has it. */
function twoOperations({ method, path, headers, body }: Sent): Answered {
  const creates = method === 'POST' && /^\/plants\/?$/.test(path);
  if (!creates && !(method === 'GET' && /^\/plants\/[^/]+\/?$/.test(path))) return refusal(404);
  const { authorization = '', 'content-type': contentType } = headers;
  if (authorization !== `Bearer ${TOKEN}`) {
    const error = authorization.startsWith('Bearer ') ? ', error="invalid_token"' : '';
    return refusal(401, { 'www-authenticate': `Bearer realm="x"${error}` });
  }
  if (!creates) return answer(200, { name: 'seven' });
  return refusal(contentType === 'application/json' || body === '' ? 400 : 415);
}

/** The titles of the checks of `TWO_OPERATIONS` that fail. */
async function failing(respond: (sent: Sent) => Answered): Promise<string[]> {
  const client = new HttpClient(await startStandIn(respond), TOKEN);
  const failed: string[] = [];
  for (const { title, run } of contractChecks(TWO_OPERATIONS)) await run(client).catch(() => failed.push(title));
  return failed;
}

const INVALID_TOKENS = contractChecks(TWO_OPERATIONS)
  .map(({ title }) => title)
  .filter((title) => /^GET .+ is error 401/.test(title));

const getsPlant = ({ method, path }: Sent) => method === 'GET' && /^\/plants\/\d+$/.test(path);
/** The same service, which also allows pages of another origin, if they ask as a browser does. */
function twoOperationsForPages(sent: Sent, allowOrigin = 'https://a.example'): Answered {
  const { method, path, headers } = sent;
  const allowed = path === '/plants' ? 'POST' : getsPlant({ ...sent, method: 'GET' }) ? 'GET' : undefined;
  if (method !== 'OPTIONS' || !allowed) {
    const response = twoOperations(sent);
    const { origin } = headers;
    return origin === allowOrigin
      ? { ...response, headers: { ...response.headers, 'access-control-allow-origin': origin } }
      : response;
  }
  const { origin = '', authorization, 'access-control-request-method': asked, 'content-type': type } = headers;
  const isPreflight = URL.canParse(origin) && asked === allowed && `${authorization}${type}` === 'undefinedundefined';
  if (!isPreflight) return refusal(401);
  const preflight = {
    'access-control-allow-methods': `PUT , ${asked},OPTIONS`,
    'access-control-allow-origin': 'https://a.example',
  };
  return answer(200, {}, preflight);
}

test.each<[string, (sent: Sent) => Answered]>([
  ['has both', twoOperations],
  ['lets pages of another origin in', (sent) => twoOperationsForPages(sent)],
])('all checks of two operations pass on a service that %s', async (_, service) => {
  expect(await failing(service)).toEqual([]);
});

test('checks every other method of the known paths, and every method of the paths near them', () => {
  const titles = contractChecks(TWO_OPERATIONS).map(({ title }) => title);
  const all = 'POST, GET, PUT, PATCH, DELETE, OPTIONS, HEAD';
  expect(titles.filter((title) => title.includes('with different headers'))).toEqual(
    [
      `/ by ${all}`,
      `/none/a/b by ${all}`,
      `/plant by ${all}`,
      `/plants/{id}/none by ${all}`,
      '/plants by GET, PUT, PATCH, DELETE, HEAD',
      '/plants/{id} by POST, PUT, PATCH, DELETE, HEAD',
    ].map((what) => `${what}, with different headers and bodies, is error 404`),
  );
  expect(new Set(titles).size).toBe(titles.length);
});

test('sends no id but those of its token', async () => {
  const ids = new Set<string>();
  await failing((sent) => {
    const [id] = /(?<=^\/plants\/)[^/]+/.exec(sent.path) ?? [];
    if (id !== undefined && id !== 'none') ids.add(id);
    return twoOperations(sent);
  });
  expect([...ids]).toEqual([expect.stringMatching(/^92\d{17}$/)]);
});

test('sends requests to missing paths in every way, and not always with the same method', async () => {
  const sent: Sent[] = [];
  await failing((one) => {
    sent.push(one);
    return twoOperations(one);
  });
  const ways = (path: RegExp) =>
    sent
      .filter((one) => path.test(one.path) && !/GET|HEAD/.test(one.method))
      .map(({ headers, bytes }) =>
        [headers['content-type'], headers.authorization, bytes.toString('latin1')].join(' '),
      );
  const ALL_WAYS = [
    `application/json Bearer ${TOKEN} {}`,
    'text/plain  x',
    `application/x-www-form-urlencoded Bearer ${TOKEN} id=1&name=x`,
    `application/octet-stream Bearer ${TOKEN} \xff\x00`,
    '  {}',
  ];
  const tried = [/^\/none\/a\/b$/, /^\/plant$/, /^\/plants\/\d+\/none$/].map(ways);
  for (const some of tried) for (const way of some) expect(ALL_WAYS).toContain(way);
  expect(new Set(tried.flat())).toEqual(new Set(ALL_WAYS));
  expect(new Set(tried.map(([first]) => first)).size).toBe(tried.length);
});

const preflightOf = (path: string, method: string) =>
  `OPTIONS ${path} is error 404, or a preflight that allows other origins to send ${method}, and to read the responses`;

test.each<[string, (sent: Sent) => Answered | undefined, string[]]>([
  [
    'answers the second operation without a token',
    (sent) => (getsPlant(sent) ? answer(200, { name: 'seven' }) : undefined),
    INVALID_TOKENS,
  ],
  [
    'tells the token of the second operation back',
    (sent) => {
      const { status, headers, body } = twoOperations(sent);
      return getsPlant(sent)
        ? { status, headers, body: body.replace('"x"', `"${sent.headers.authorization}"`) }
        : undefined;
    },
    INVALID_TOKENS.filter((title) => !/without Auth|another scheme|another form/.test(title)),
  ],
  ['does not have the second operation', (sent) => (getsPlant(sent) ? refusal(404) : undefined), INVALID_TOKENS],
  [
    'deletes plants',
    ({ method, path }) =>
      method === 'DELETE' && /^\/plants\/\d+$/.test(path) ? answer(200, { name: 'seven' }) : undefined,
    ['/plants/{id} by POST, PUT, PATCH, DELETE, HEAD, with different headers and bodies, is error 404'],
  ],
  [
    'answers what lies below a plant',
    ({ path }) => (/^\/plants\/\d+\/none$/.test(path) ? refusal(400) : undefined),
    [
      '/plants/{id}/none by POST, GET, PUT, PATCH, DELETE, OPTIONS, HEAD, with different headers and bodies, is error 404',
    ],
  ],
  [
    'allows pages to send only the first operation',
    (sent) =>
      sent.method === 'OPTIONS' && getsPlant({ ...sent, method: 'GET' })
        ? answer(200, {}, { 'access-control-allow-methods': 'OPTIONS,POST' })
        : undefined,
    [preflightOf('/plants/{id}', 'GET')],
  ],
  [
    'allows pages to send requests, and not to read the responses',
    (sent) => (sent.method === 'OPTIONS' ? twoOperationsForPages(sent) : undefined),
    [preflightOf('/plants', 'POST'), preflightOf('/plants/{id}', 'GET')],
  ],
  [
    'allows pages to read only the responses to another origin',
    (sent) => twoOperationsForPages(sent, 'https://b.example'),
    [preflightOf('/plants', 'POST'), preflightOf('/plants/{id}', 'GET')],
  ],
  [
    'gives the second operation’s answers no request id',
    (sent) => {
      const { headers, ...answered } = twoOperations(sent);
      return getsPlant(sent) ? { ...answered, headers: { ...headers, 'x-amz-apigw-id': '' } } : undefined;
    },
    ['each error response has a request id of its own (x-amz-apigw-id), which no client can choose'],
  ],
  [
    'fails where it is asked for a preflight',
    ({ method, path }) =>
      method === 'OPTIONS' && path === '/plants' ? refusal(500, { 'access-control-allow-methods': 'POST' }) : undefined,
    [preflightOf('/plants', 'POST')],
  ],
  [
    'gives no request id where there is nothing',
    (sent) => (sent.path === '/' ? { ...refusal(404), headers: { 'content-type': 'application/json' } } : undefined),
    ['each error response has a request id of its own (x-amz-apigw-id), which no client can choose'],
  ],
  [
    'gives the request id that a caller sends',
    (sent) => {
      const { headers, ...answered } = twoOperations(sent);
      const chosen = sent.headers['x-amz-apigw-id'];
      return { ...answered, headers: { ...headers, ...(chosen !== undefined && { 'x-amz-apigw-id': chosen }) } };
    },
    ['each error response has a request id of its own (x-amz-apigw-id), which no client can choose'],
  ],
])('the checks notice a service that %s', async (_, change, titles) => {
  expect(await failing((sent) => change(sent) ?? twoOperations(sent))).toEqual(titles);
});
