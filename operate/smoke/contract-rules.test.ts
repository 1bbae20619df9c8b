import { expect, test } from 'vitest';
import { type Answered, type Sent, startStandIn } from '../../test/support/stand-in-service.ts';
import { Caller } from '../caller.ts';
import { contractRules, type SmokeOperation } from './contract-rules.ts';

const TOKEN = 'the-token';

const TWO_OPERATIONS: SmokeOperation[] = [
  { method: 'POST', path: '/plants', needsJson: true },
  { method: 'GET', path: '/plants/{id}', needsJson: false },
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
  const caller = new Caller(await startStandIn(answerTo), TOKEN);
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

test('all rules of two operations hold on a service that has both', async () => {
  expect(await failing(twoOperations)).toEqual([]);
});

test.each<[string, (sent: Sent) => Answered | undefined, string[]]>([
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
])('the rules notice a service that %s', async (_, change, rules) => {
  expect(await failing((sent) => change(sent) ?? twoOperations(sent))).toEqual(rules);
});
