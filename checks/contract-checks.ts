import { generateKeyPairSync, sign } from 'node:crypto';
import { type Check, mustBe, mustNotContain, ownRequestIds, refused } from './check.ts';
import { type Client, type ClientRequest, isError } from './client.ts';
import { idFor } from './ids.ts';

/** An operation of the contract, as `npm run generate` writes it: the smoke test loads no package. */
export interface SmokeOperation {
  operationId: string;
  method: string;
  /** With its parameters in braces, as in `/plants/{id}`. */
  path: string;
  /** True if the operation takes a body, which must be `application/json`. */
  needsJson: boolean;
}

/** Facts of a deployment that the pre-traffic check can read, and a client cannot. */
export interface DeploymentFacts {
  expiredToken: string;
  /** An origin whose pages may call the API. */
  allowedOrigin?: string | undefined;
  /** The issuer, the audience and the scope of the identity provider's tokens. */
  tokenIssuer?: string | undefined;
  tokenAudience?: string | undefined;
  tokenScope?: string | undefined;
}

export const UNKNOWN_TOKEN = `plantstore_${'0'.repeat(43)}`;
/** HEAD is the last: its response has no body to check, so the methods before it go through all of WAYS. */
const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'];
/** How a request to a missing path or method is sent: each method in one of these ways, because all of them take long. */
const WAYS: [way: string, request: ClientRequest][] = [
  ['as JSON', { body: '{}' }],
  ['as text without a token', { headers: { authorization: '', 'content-type': 'text/plain' }, body: 'x' }],
  ['as a form', { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'id=1&name=x' }],
  ['as bytes', { headers: { 'content-type': 'application/octet-stream' }, body: Uint8Array.of(0xff, 0x00) }],
  ['without Content-Type and token', { headers: { authorization: '', 'content-type': '' }, body: '{}' }],
];

/** The checks of any contract: of each operation, whatever it does, and of missing paths and methods. */
export function contractChecks(operations: SmokeOperation[], facts?: DeploymentFacts): Check[] {
  const unknown = unknownPaths(operations);
  const known = [...Map.groupBy(operations, ({ path }) => path)];
  return [
    ...operations.flatMap((operation) => operationChecks(operation, facts)),
    ...unknown.map((path, index) => missing(path, METHODS, index)),
    ...known.flatMap(([path, ofPath], index) => pathChecks(path, ofPath, unknown.length + index)),
    ownRequestIds('each error response', (client) => [
      ...operations.map((operation) => ({ ...requestOf(client, operation), headers: { authorization: '' } })),
      ...unknown.slice(0, 1).map((path) => ({ path: sampleOf(client, path), body: '{}' })),
    ]),
  ];
}

function operationChecks(operation: SmokeOperation, facts?: DeploymentFacts): Check[] {
  const { method, path, needsJson } = operation;
  const origin = facts?.allowedOrigin;
  return [
    ...Object.entries(invalidTokens(facts)).map(([what, authorization]) =>
      unauthorized(operation, what, authorization),
    ),
    ...(needsJson ? bodyChecks(operation) : []),
    ...(origin === undefined ? [] : [readableBy(`${method} ${path}`, operation, origin)]),
  ];
}

/** Authorization headers without a valid token, made from the valid token. */
function invalidTokens(facts?: DeploymentFacts): Record<string, (validToken: string) => string> {
  return {
    'without Authorization header': () => '',
    'with another scheme': () => 'Basic cGxhbnQ6c3RvcmU=',
    'with a token of another form': () => 'Bearer secret',
    'with an unknown token': () => `Bearer ${UNKNOWN_TOKEN}`,
    'with a valid token without its last character': (token) => `Bearer ${token.slice(0, -1)}`,
    'with a valid token and another character': (token) => `Bearer ${token}0`,
    // The last character of a JWT may hold no more than two bits of the signature.
    'with a valid token that ends differently': (token) =>
      `Bearer ${token.slice(0, -2)}${token.at(-2) === '0' ? '1' : '0'}${token.slice(-1)}`,
    'with an unsigned JWT': () => `Bearer ${jwt({ alg: 'none' }, facts, () => Buffer.of())}`,
    'with a JWT that somebody else signed': () => `Bearer ${jwt({ alg: 'ES256' }, facts, signedBySomebodyElse)}`,
    ...(facts && { 'with an expired token': () => `Bearer ${facts.expiredToken}` }),
  };
}

/** A JWT with the claims of a valid access token (RFC 9068), as far as they are known. */
function jwt(header: { alg: string }, facts: DeploymentFacts | undefined, signer: (text: string) => Buffer): string {
  const { tokenIssuer: iss = 'https://issuer.example', tokenAudience: aud = 'plants', tokenScope: scope } = facts ?? {};
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss, aud, scope, sub: 'check', client_id: 'check', iat: now, exp: now + 300 };
  const parts = [{ typ: 'at+jwt', ...header }, claims].map((part) => encoded(JSON.stringify(part)));
  return `${parts.join('.')}.${encoded(signer(parts.join('.')))}`;
}

function encoded(part: string | Buffer): string {
  return Buffer.from(part).toString('base64url');
}

function signedBySomebodyElse(text: string): Buffer {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' });
}

/** RFC 6750, 3: the challenge names an error only if a bearer token was sent. */
function unauthorized(operation: SmokeOperation, what: string, authorization: (validToken: string) => string): Check {
  return {
    title: `${operation.method} ${operation.path} ${what} is error 401, with a challenge`,
    run: async (client) => {
      const sent = authorization(client.token);
      const response = await client.send({ ...requestOf(client, operation), headers: { authorization: sent } });
      // Without its identity provider, a version accepts no JWT either.
      if (what.includes('JWT') && isError(response, 503)) return;
      mustBe(response, { status: 400, error: 401 });
      const [scheme, token = ''] = sent.split(' ');
      if (token.length > 32) mustNotContain(response, token);
      // API Gateway renames it in responses of a function ("Amazon API Gateway important notes").
      const { 'www-authenticate': own, 'x-amzn-remapped-www-authenticate': renamed } = response.headers;
      const challenge = own ?? renamed ?? '';
      const expected = scheme === 'Bearer' ? 'error="invalid_token"' : 'no error';
      const [error] = /\berror="?[^",]*"?/.exec(challenge) ?? ['no error'];
      if (!/^Bearer .*\brealm="[^"]+"/i.test(challenge) || error !== expected) {
        throw new Error(`WWW-Authenticate is "${challenge}"; it must be Bearer realm="..." with ${expected}`);
      }
    },
  };
}

/** The checks of an operation whose request has a body of JSON. */
function bodyChecks(operation: SmokeOperation): Check[] {
  const name = `${operation.method} ${operation.path}`;
  const request = (changes: ClientRequest) => (client: Client) => ({ ...requestOf(client, operation), ...changes });
  const types = [
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/problem+json',
    'application/vnd.api+json',
  ];
  const notJson = '{"id":';
  const withoutToken = request({ body: notJson, headers: { authorization: '' } });
  return [
    refused(`${name} without a token, whatever the body,`, withoutToken, 401),
    refused(`${name} with a body that is not JSON`, request({ body: notJson }), 400),
    refused(`${name} with an empty body`, request({ body: '' }), 400),
    refused(`${name} without Content-Type`, request({ headers: { 'content-type': '' } }), 415),
    ...types.map((type) =>
      refused(`${name} with the Content-Type ${type}`, request({ headers: { 'content-type': type } }), 415),
    ),
  ];
}

function readableBy(what: string, operation: SmokeOperation, origin: string): Check {
  return {
    title: `pages of ${origin} can read the responses to ${what}`,
    run: (client) => mustBeReadableBy(client, operation, origin),
  };
}

async function mustBeReadableBy(client: Client, operation: SmokeOperation, origin: string): Promise<void> {
  for (const authorization of ['', `Bearer ${client.token}`]) {
    const headers = { origin, authorization };
    const response = await client.sendOnce({ ...requestOf(client, operation), headers });
    const allowed = response.headers['access-control-allow-origin'];
    if (allowed === '*' || allowed === origin) continue;
    throw new Error(`Access-Control-Allow-Origin is ${allowed ?? 'missing'}; it must be ${origin} or *`);
  }
}

/** The other methods of a path that has operations, and its preflight. */
function pathChecks(path: string, operations: SmokeOperation[], firstWay: number): Check[] {
  const methods = operations.map(({ method }) => method);
  const others = METHODS.filter((method) => method !== 'OPTIONS' && !methods.includes(method));
  return [missing(path, others, firstWay), preflight(path, operations)];
}

/** The first method is sent in the way with this index, each further one in the next way. */
function missing(path: string, methods: string[], firstWay: number): Check {
  return {
    title: `${path} by ${methods.join(', ')}, with different headers and bodies, is error 404`,
    byGateway: true,
    run: async (client) => {
      for (const [index, method] of methods.entries()) {
        const [way, request] = WAYS[(firstWay + index) % WAYS.length] ?? ['', {}];
        await mustBeMissing(client, { ...request, method, path: sampleOf(client, path) }).catch((error: Error) => {
          throw new Error(`${method} ${way}: ${error.message}`);
        });
      }
    },
  };
}

async function mustBeMissing(client: Client, request: ClientRequest): Promise<void> {
  // The response to a HEAD has no body (RFC 9110, 9.3.2).
  if (request.method !== 'HEAD') return mustBe(await client.send(request), { status: 400, error: 404 });
  const { status } = await client.sendOnce(request);
  if (status !== 400) throw new Error(`status ${status}; it must be 400`);
}

/** If a preflight is allowed, pages of the origin that it allows must be able to read responses too. */
function preflight(path: string, operations: SmokeOperation[]): Check {
  const methods = operations.map(({ method }) => method);
  return {
    title: `OPTIONS ${path} is error 404, or a preflight that allows other origins to send ${methods.join(' and ')}, and to read the responses`,
    byGateway: true,
    run: async (client) => {
      const headers = {
        authorization: '',
        'content-type': '',
        origin: 'https://app.example.com',
        'access-control-request-method': methods[0] ?? '',
      };
      const request = { method: 'OPTIONS', path: sampleOf(client, path), headers };
      const response = await client.sendOnce(request);
      const allowed = response.headers['access-control-allow-methods']?.split(/\s*,\s*/) ?? [];
      if (response.status !== 200 || !methods.every((method) => allowed.includes(method))) {
        return mustBe(await client.send(request), { status: 400, error: 404 });
      }
      const origin = response.headers['access-control-allow-origin'] ?? '';
      for (const operation of operations) await mustBeReadableBy(client, operation, origin);
    },
  };
}

/** Paths near those of the contract that match none of them. */
function unknownPaths(operations: SmokeOperation[]): string[] {
  const near = operations.flatMap(({ path }) => [path.replace(/[^}]$/, ''), `${path}/none`]);
  // API Gateway ignores a slash at the end.
  const patterns = operations.map(({ path }) => new RegExp(`^${path.replaceAll(/\{.+?\}/g, '[^/]+')}/?$`));
  return [...new Set(['/', '/none/a/b', ...near])].filter((path) => !patterns.some((pattern) => pattern.test(path)));
}

/** A request of an operation that changes nothing. */
export function requestOf(client: Client, { method, path }: SmokeOperation): ClientRequest {
  return { method, path: sampleOf(client, path), body: '{}' };
}

/** A path with an id of the client's own for each parameter: a broken version may do what the operation does. */
function sampleOf(client: Client, path: string): string {
  return path.replaceAll(/\{.+?\}/g, (parameter) => String(idFor(client, parameter)));
}
