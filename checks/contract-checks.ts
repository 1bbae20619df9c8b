import { generateKeyPairSync, sign } from 'node:crypto';
import { type Check, error, expectResponse, ownRequestIds, refused } from './check.ts';
import { type Client, type ClientRequest, isError, matches } from './client.ts';

/** An operation of the contract. */
export interface SmokeOperation {
  operationId: string;
  method: string;
  /** With its parameters in braces, as in `/plants/{id}`. */
  path: string;
  /** True if the operation takes a body, which must be `application/json`. */
  needsJson: boolean;
}

/** An operation as `npm run generate` writes it, with its own validator: the smoke test loads no package. */
export interface CheckedOperation extends SmokeOperation {
  /** True if a body is one of a response 200, without other members. */
  isResponse: (body: unknown) => body is object;
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
/** How requests to a missing path or method are sent: each method in one of these ways, because all of them take long. */
const WAYS: ClientRequest[] = [
  { body: '{}' },
  { headers: { authorization: '', 'content-type': 'text/plain' }, body: 'x' },
  { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'id=1&name=x' },
  { headers: { 'content-type': 'application/octet-stream' }, body: Uint8Array.of(0xff, 0x00) },
  { headers: { authorization: '', 'content-type': '' }, body: '{}' },
];
const WRONG_TYPES = [
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'application/problem+json',
  'application/vnd.api+json',
];

/** The checks of any contract: of each operation, whatever it does, and of missing paths and methods. */
export function contractChecks(operations: SmokeOperation[], facts?: DeploymentFacts): Check[] {
  const unknown = unknownPaths(operations);
  const known = [...Map.groupBy(operations, ({ path }) => path)];
  return [
    ...operations.flatMap((operation) => operationChecks(operation, facts)),
    ...unknown.map((path, index) => missing(path, METHODS, index)),
    ...known.flatMap(([path, ofPath], index) => {
      const others = METHODS.filter((each) => each !== 'OPTIONS' && !ofPath.some(({ method }) => method === each));
      return [missing(path, others, unknown.length + index), preflight(path, ofPath)];
    }),
    ownRequestIds('each error response', (client) => [
      ...operations.map((operation) => requestOf(client, operation, { headers: { authorization: '' } })),
      ...unknown.slice(0, 1).map((path) => ({ path: sampleOf(client, path), body: '{}' })),
    ]),
  ];
}

/** A request of an operation that changes nothing. */
export function requestOf(client: Client, operation: SmokeOperation, changes?: ClientRequest): ClientRequest {
  return { method: operation.method, path: sampleOf(client, operation.path), body: '{}', ...changes };
}

/** A path with an id of the client's own for each parameter: a broken version may do what the operation does. */
function sampleOf(client: Client, path: string): string {
  return path.replaceAll(/\{.+?\}/g, (parameter) => String(client.id(parameter)));
}

function operationChecks(operation: SmokeOperation, facts?: DeploymentFacts): Check[] {
  const name = `${operation.method} ${operation.path}`;
  const refusedWith = (what: string, changes: ClientRequest, number: number) =>
    refused(`${name} ${what}`, (client) => requestOf(client, operation, changes), number);
  const bodyChecks = [
    refusedWith('without a token, whatever the body,', { body: '{"id":', headers: { authorization: '' } }, 401),
    refusedWith('with a body that is not JSON', { body: '{"id":' }, 400),
    refusedWith('with an empty body', { body: '' }, 400),
    refusedWith('without Content-Type', { headers: { 'content-type': '' } }, 415),
    ...WRONG_TYPES.map((type) =>
      refusedWith(`with the Content-Type ${type}`, { headers: { 'content-type': type } }, 415),
    ),
  ];
  const { allowedOrigin: origin } = facts ?? {};
  const readable: Check = {
    title: `pages of ${origin} can read the responses to ${name}`,
    run: (client) => mustBeReadableBy(client, operation, String(origin)),
  };
  return [
    ...Object.entries(invalidTokens(facts)).map(([what, invalid]) => unauthorized(operation, what, invalid)),
    ...(operation.needsJson ? bodyChecks : []),
    ...(origin === undefined ? [] : [readable]),
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
  const parts = [{ typ: 'at+jwt', ...header }, claims].map((part) => Buffer.from(JSON.stringify(part)));
  const signed = parts.map((part) => part.toString('base64url')).join('.');
  return `${signed}.${signer(signed).toString('base64url')}`;
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
      const request = requestOf(client, operation, { headers: { authorization: sent } });
      // Without its identity provider, a version accepts no JWT either.
      if (what.includes('JWT') && isError(await client.send(request), 503)) return;
      const { headers } = await expectResponse(client, [request, error(401)]);
      // API Gateway renames it in responses of a function ("Amazon API Gateway important notes").
      const challenge = headers['www-authenticate'] ?? headers['x-amzn-remapped-www-authenticate'] ?? '';
      const expected = sent.startsWith('Bearer ') ? 'error="invalid_token"' : 'no error';
      const [named] = /\berror="?[^",]*"?/.exec(challenge) ?? ['no error'];
      if (!/^Bearer .*\brealm="[^"]+"/i.test(challenge) || named !== expected) {
        throw new Error(`WWW-Authenticate is "${challenge}"; it must be Bearer realm="..." with ${expected}`);
      }
    },
  };
}

async function mustBeReadableBy(client: Client, operation: SmokeOperation, origin: string): Promise<void> {
  for (const authorization of ['', `Bearer ${client.token}`]) {
    const { headers } = await client.sendOnce(requestOf(client, operation, { headers: { origin, authorization } }));
    const allowed = headers['access-control-allow-origin'];
    if (allowed === '*' || allowed === origin) continue;
    throw new Error(`Access-Control-Allow-Origin is ${allowed ?? 'missing'}; it must be ${origin} or *`);
  }
}

/** The first method is sent in the way with this index, each further one in the next way. */
function missing(path: string, methods: string[], firstWay: number): Check {
  return {
    title: `${path} by ${methods.join(', ')}, with different headers and bodies, is error 404`,
    byGateway: true,
    run: async (client) => {
      for (const [index, method] of methods.entries()) {
        const request = { ...WAYS[(firstWay + index) % WAYS.length], method, path: sampleOf(client, path) };
        // The response to a HEAD has no body (RFC 9110, 9.3.2).
        const isMissing =
          method === 'HEAD' ? mustBe400(client, request) : expectResponse(client, [request, error(404)]);
        await isMissing.catch((failure: Error) => {
          throw new Error(`${method} ${JSON.stringify(request.headers ?? {})}: ${failure.message}`);
        });
      }
    },
  };
}

async function mustBe400(client: Client, request: ClientRequest): Promise<void> {
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
      if (response.status === 200 && methods.every((method) => allowed.includes(method))) {
        const origin = response.headers['access-control-allow-origin'] ?? '';
        for (const operation of operations) await mustBeReadableBy(client, operation, origin);
      } else {
        await expectResponse(client, [request, error(404)]);
      }
    },
  };
}

/** Paths near those of the contract that match none of them. */
function unknownPaths(operations: SmokeOperation[]): string[] {
  const near = operations.flatMap(({ path }) => [path.replace(/[^}]$/, ''), `${path}/none`]);
  const isKnown = (path: string) => operations.some((operation) => matches(path, operation.path));
  return [...new Set(['/', '/none/a/b', ...near])].filter((path) => !isKnown(path));
}
