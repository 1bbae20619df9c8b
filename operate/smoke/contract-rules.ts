import type { Request } from '../caller.ts';
import { mustBe, mustNotHold, ownRequestIds, type Rule, refused } from './rule.ts';

/** An operation of the contract as `npm run generate` writes it beside this: the smoke itself loads no package. */
export interface SmokeOperation {
  operationId: string;
  method: string;
  /** With its parameters in braces, as in `/plants/{id}`. */
  path: string;
  /** Whether it wants a body of `application/json`. */
  needsJson: boolean;
}

const UNKNOWN_TOKEN = `plantstore_${'0'.repeat(43)}`;
/** HEAD stands last: the answer to it has no body to check, so those before it go through all of WAYS. */
const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'];
/** What is sent to a missing path or method changes nothing. Each method is sent in one of these ways, to stay quick. */
const WAYS: [way: string, request: Request][] = [
  ['as JSON', { body: '{}' }],
  ['as text without a token', { headers: { authorization: '', 'content-type': 'text/plain' }, body: 'x' }],
  ['as a form', { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'id=1&name=x' }],
  ['as bytes', { headers: { 'content-type': 'application/octet-stream' }, body: Uint8Array.of(0xff, 0x00) }],
  ['without Content-Type and token', { headers: { authorization: '', 'content-type': '' }, body: '{}' }],
];

/** What holds for each operation of a contract, whatever it does, and for the paths and methods that it has not. */
export function contractRules(operations: SmokeOperation[]): Rule[] {
  const unknown = unknownPaths(operations);
  const known = [...Map.groupBy(operations, ({ path }) => path)];
  return [
    ...operations.flatMap(operationRules),
    ...unknown.map((path, index) => missing(path, METHODS, index)),
    ...known.flatMap(([path, ofPath], index) => pathRules(path, ofPath, unknown.length + index)),
    ownRequestIds('each refusal', [
      ...operations.map((operation) => ({ ...requestOf(operation), headers: { authorization: '' } })),
      ...unknown.slice(0, 1).map((path) => ({ path, body: '{}' })),
    ]),
  ];
}

function operationRules(operation: SmokeOperation): Rule[] {
  const { method, path, needsJson } = operation;
  const asked = `${method} ${path}`;
  const request = requestOf(operation);
  return [
    unauthorized(`${asked} without Authorization header`, request, ''),
    unauthorized(`${asked} with another scheme`, request, 'Basic cGxhbnQ6c3RvcmU='),
    unauthorized(`${asked} with a token of another form`, request, 'Bearer secret'),
    unauthorized(`${asked} with an unknown token, which is not told back,`, request, `Bearer ${UNKNOWN_TOKEN}`),
    ...(needsJson ? bodyRules(asked, request) : []),
  ];
}

/** What holds wherever a body of JSON is wanted. */
function bodyRules(asked: string, request: Request): Rule[] {
  const types = [
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/problem+json',
    'application/vnd.api+json',
  ];
  const noJson = { ...request, body: '{"id":' };
  return [
    refused(`${asked} without a token, whatever the body,`, { ...noJson, headers: { authorization: '' } }, 401),
    refused(`${asked} with a body that is no JSON`, noJson, 400),
    refused(`${asked} with an empty body`, { ...request, body: '' }, 400),
    refused(`${asked} without Content-Type`, { ...request, headers: { 'content-type': '' } }, 415),
    ...types.map((type) =>
      refused(`${asked} with the Content-Type ${type}`, { ...request, headers: { 'content-type': type } }, 415),
    ),
  ];
}

/** RFC 6750, 3: an error stands in the challenge only where a bearer token was sent. */
function unauthorized(what: string, request: Request, authorization: string): Rule {
  const error = authorization.startsWith('Bearer ') ? 'error="invalid_token"' : 'no error';
  return {
    rule: `${what} is error 401, its challenge a Bearer realm with ${error}`,
    check: async (caller) => {
      const answer = await caller.send({ ...request, headers: { authorization } });
      mustBe(answer, { status: 400, error: 401 });
      mustNotHold(answer, UNKNOWN_TOKEN);
      const { headers } = answer;
      // A REST API's proxy integration renames it ("Amazon API Gateway important notes").
      const challenge = headers['www-authenticate'] ?? headers['x-amzn-remapped-www-authenticate'] ?? '';
      const [told] = /\berror="?[^",]*"?/.exec(challenge) ?? ['no error'];
      if (!/^Bearer .*\brealm="[^"]+"/i.test(challenge) || told !== error) {
        throw new Error(`WWW-Authenticate is "${challenge}"; it must be Bearer realm="..." with ${error}`);
      }
    },
  };
}

/** Of the operations of one path: its other methods are missing. */
function pathRules(path: string, operations: SmokeOperation[], firstWay: number): Rule[] {
  const methods = operations.map(({ method }) => method);
  // A preflight may be answered.
  const others = METHODS.filter((method) => method !== 'OPTIONS' && !methods.includes(method));
  return [missing(path, others, firstWay), preflight(path, methods)];
}

/** The first method is sent in the way of that number, each further one in the next way. */
function missing(path: string, methods: string[], firstWay: number): Rule {
  return {
    rule: `${path} by ${methods.join(', ')}, whatever is sent, is error 404`,
    byGateway: true,
    check: async (caller) => {
      const ask = async (request: Request) => {
        // The answer to a HEAD has no body (RFC 9110, 9.3.2).
        if (request.method !== 'HEAD') return mustBe(await caller.send(request), { status: 400, error: 404 });
        const { status } = await caller.exchange(request);
        if (status !== 400) throw new Error(`status ${status}; it must be 400`);
      };
      for (const [index, method] of methods.entries()) {
        const [way, request] = WAYS[(firstWay + index) % WAYS.length] ?? ['', {}];
        await ask({ ...request, method, path: sampleOf(path) }).catch((error: Error) => {
          throw new Error(`${method} ${way}: ${error.message}`);
        });
      }
    },
  };
}

function preflight(path: string, methods: string[]): Rule {
  return {
    rule: `OPTIONS ${path} is error 404, or a preflight that lets pages of other origins send ${methods.join(' and ')}`,
    byGateway: true,
    check: async (caller) => {
      const headers = { origin: 'https://app.example.com', 'access-control-request-method': methods[0] ?? '' };
      const without = { authorization: '', 'content-type': '' };
      const request = { method: 'OPTIONS', path: sampleOf(path), headers: { ...without, ...headers } };
      const { status, headers: answered } = await caller.exchange(request);
      const allowed = answered['access-control-allow-methods']?.split(/\s*,\s*/) ?? [];
      if (status === 200 && methods.every((method) => allowed.includes(method))) return;
      mustBe(await caller.send(request), { status: 400, error: 404 });
    },
  };
}

/** Paths beside those of the contract that match none of them, parameters included. */
function unknownPaths(operations: SmokeOperation[]): string[] {
  const beside = operations.map(({ path }) => sampleOf(path)).flatMap((path) => [path.slice(0, -1), `${path}/none`]);
  // API Gateway overlooks a slash at the end.
  const patterns = operations.map(({ path }) => new RegExp(`^${path.replaceAll(/\{.+?\}/g, '[^/]+')}/?$`));
  return [...new Set(['/', '/none/a/b', ...beside])].filter((path) => !patterns.some((pattern) => pattern.test(path)));
}

function requestOf({ method, path }: SmokeOperation): Request {
  return { method, path: sampleOf(path), body: '{}' };
}

/** A path with a value in place of each parameter; no rule here is answered by what the value is. */
function sampleOf(path: string): string {
  return path.replaceAll(/\{.+?\}/g, '1');
}
