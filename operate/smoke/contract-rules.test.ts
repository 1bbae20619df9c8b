import { expect, test } from 'vitest';
import { type Answered, type Sent, startStandIn } from '../../test/support/stand-in-service.ts';
import { HttpCaller } from '../caller.ts';
import { contractRules, type SmokeOperation } from './contract-rules.ts';

const TOKEN = 'the-token';

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

/** The rules of `TWO_OPERATIONS` that do not hold. */
async function failing(answerTo: (sent: Sent) => Answered): Promise<string[]> {
  const caller = new HttpCaller(await startStandIn(answerTo), TOKEN);
  const failed: string[] = [];
  for (const { rule, check } of contractRules(TWO_OPERATIONS)) await check(caller).catch(() => failed.push(rule));
  return failed;
}

const NO_TOKEN_OF_GET_PLANT = [
  'GET /plants/{id} without Authorization header is error 401, its challenge a Bearer realm with no error',
  'GET /plants/{id} with another scheme is error 401, its challenge a Bearer realm with no error',
  'GET /plants/{id} with a token of another form is error 401, its challenge a Bearer realm with error="invalid_token"',
  'GET /plants/{id} with an unknown token, which is not told back, is error 401, its challenge a Bearer realm with error="invalid_token"',
];

const getsPlant = ({ method, path }: Sent) => method === 'GET' && path === '/plants/1';
const creates = ({ method, path, headers }: Sent) =>
  method === 'POST' && path === '/plants' && headers.authorization === `Bearer ${TOKEN}`;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A service as `twoOperations` that also lets pages of other origins in, if they ask as a browser does. */
function twoOperationsForPages(sent: Sent): Answered {
  const { method, path, headers } = sent;
  const methods: Record<string, string> = { '/plants': 'POST', '/plants/1': 'GET' };
  if (method !== 'OPTIONS' || !methods[path]) return twoOperations(sent);
  const { origin = '', authorization, 'access-control-request-method': asked, 'content-type': type } = headers;
  const isPreflight =
    URL.canParse(origin) && asked === methods[path] && `${authorization}${type}` === 'undefinedundefined';
  return isPreflight ? answer(200, {}, { 'access-control-allow-methods': `PUT , ${asked},OPTIONS` }) : refusal(401);
}

test.each([
  ['has both', twoOperations],
  ['lets pages of other origins in', twoOperationsForPages],
])('all rules of two operations hold on a service that %s', async (_, service) => {
  expect(await failing(service)).toEqual([]);
});

test('what a contract has not is every other method of its paths, and every method of the paths beside them', () => {
  const rules = contractRules(TWO_OPERATIONS).map(({ rule }) => rule);
  const all = 'POST, GET, PUT, PATCH, DELETE, OPTIONS, HEAD';
  expect(rules.filter((rule) => rule.includes('whatever is sent'))).toEqual(
    [
      `/ by ${all}`,
      `/none/a/b by ${all}`,
      `/plant by ${all}`,
      `/plants/1/none by ${all}`,
      '/plants by GET, PUT, PATCH, DELETE, HEAD',
      '/plants/{id} by POST, PUT, PATCH, DELETE, HEAD',
    ].map((what) => `${what}, whatever is sent, is error 404`),
  );
  expect(new Set(rules).size).toBe(rules.length);
});

test('what is missing is asked for in every way, and not always by the same method', async () => {
  const sent: Sent[] = [];
  await failing((one) => {
    sent.push(one);
    return twoOperations(one);
  });
  const ways = (path: string) =>
    sent
      .filter((one) => one.path === path && !/GET|HEAD/.test(one.method))
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
  const tried = ['/none/a/b', '/plant', '/plants/1/none'].map(ways);
  for (const some of tried) for (const way of some) expect(ALL_WAYS).toContain(way);
  expect(new Set(tried.flat())).toEqual(new Set(ALL_WAYS));
  expect(new Set(tried.map(([first]) => first)).size).toBe(tried.length);
});

type Unsound = [string, (sent: Sent) => Answered | undefined, string[]];

test.each<Unsound>([
  [
    'answers the second operation without a token',
    (sent) => (getsPlant(sent) ? answer(200, { name: 'seven' }) : undefined),
    NO_TOKEN_OF_GET_PLANT,
  ],
  [
    'tells the token of the second operation back',
    (sent) => {
      const { status, headers, body } = twoOperations(sent);
      return getsPlant(sent)
        ? { status, headers, body: body.replace('"x"', `"${sent.headers.authorization}"`) }
        : undefined;
    },
    NO_TOKEN_OF_GET_PLANT.slice(-1),
  ],
  ['does not have the second operation', (sent) => (getsPlant(sent) ? refusal(404) : undefined), NO_TOKEN_OF_GET_PLANT],
  [
    'deletes plants',
    ({ method, path }) => (method === 'DELETE' && path === '/plants/1' ? answer(200, { name: 'seven' }) : undefined),
    ['/plants/{id} by POST, PUT, PATCH, DELETE, HEAD, whatever is sent, is error 404'],
  ],
  [
    'answers what lies below a plant',
    ({ path }) => (path === '/plants/1/none' ? refusal(400) : undefined),
    ['/plants/1/none by POST, GET, PUT, PATCH, DELETE, OPTIONS, HEAD, whatever is sent, is error 404'],
  ],
  [
    'lets pages send the first operation only',
    ({ method, path }) =>
      method === 'OPTIONS' && /^\/plants(\/1)?$/.test(path)
        ? answer(200, {}, { 'access-control-allow-methods': 'OPTIONS,POST' })
        : undefined,
    ['OPTIONS /plants/{id} is error 404, or a preflight that lets pages of other origins send GET'],
  ],
  [
    'gives the second operation’s answers no request id',
    (sent) => {
      const { headers, ...answered } = twoOperations(sent);
      return getsPlant(sent) ? { ...answered, headers: { ...headers, 'x-amz-apigw-id': '' } } : undefined;
    },
    ['each refusal has a request id of its own (x-amz-apigw-id), which no caller chooses'],
  ],
  ...[
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/problem+json',
    'application/vnd.api+json',
  ].map(
    (type): Unsound => [
      `takes ${type} for JSON`,
      (sent) => (creates(sent) && sent.headers['content-type'] === type ? refusal(400) : undefined),
      [`POST /plants with the Content-Type ${type} is error 415`],
    ],
  ),
  ...[/^$/, /^Basic /, /^Bearer (?!plantstore_)/, /^Bearer plantstore_\w{43}$/].map(
    (form, index): Unsound => [
      `lets in who sends an Authorization like ${form}`,
      (sent) => {
        const { authorization = '' } = sent.headers;
        const letIn = getsPlant(sent) && form.test(authorization) && authorization !== `Bearer ${TOKEN}`;
        return letIn ? answer(200, { name: 'seven' }) : undefined;
      },
      NO_TOKEN_OF_GET_PLANT.slice(index, index + 1),
    ],
  ),
  [
    'fails where it is asked for a preflight',
    ({ method, path }) =>
      method === 'OPTIONS' && path === '/plants' ? refusal(500, { 'access-control-allow-methods': 'POST' }) : undefined,
    ['OPTIONS /plants is error 404, or a preflight that lets pages of other origins send POST'],
  ],
  [
    'takes for JSON what is not said to be',
    (sent) => (creates(sent) && sent.headers['content-type'] === undefined ? refusal(400) : undefined),
    ['POST /plants without Content-Type is error 415'],
  ],
  [
    'looks at the body before the token',
    ({ method, path, body }) =>
      method === 'POST' && path === '/plants' && !isJson(body) && body !== '' ? refusal(400) : undefined,
    ['POST /plants without a token, whatever the body, is error 401'],
  ],
  [
    'takes a body that is no JSON',
    (sent) => (creates(sent) && !isJson(sent.body) && sent.body !== '' ? answer(200, { name: '' }) : undefined),
    ['POST /plants with a body that is no JSON is error 400'],
  ],
  [
    'takes an empty body',
    (sent) => (creates(sent) && sent.body === '' ? answer(200, { name: '' }) : undefined),
    ['POST /plants with an empty body is error 400'],
  ],
  [
    'gives no request id where there is nothing',
    (sent) => (sent.path === '/' ? { ...refusal(404), headers: { 'content-type': 'application/json' } } : undefined),
    ['each refusal has a request id of its own (x-amz-apigw-id), which no caller chooses'],
  ],
  [
    'gives the request id that a caller sends',
    (sent) => {
      const { headers, ...answered } = twoOperations(sent);
      const chosen = sent.headers['x-amz-apigw-id'];
      return { ...answered, headers: { ...headers, ...(chosen !== undefined && { 'x-amz-apigw-id': chosen }) } };
    },
    ['each refusal has a request id of its own (x-amz-apigw-id), which no caller chooses'],
  ],
])('the rules notice a service that %s', async (_, change, rules) => {
  expect(await failing((sent) => change(sent) ?? twoOperations(sent))).toEqual(rules);
});
