import { generateKeyPairSync, sign } from 'node:crypto';
import { type Check, error, errorCheck, requestIdCheck, runStep } from './check.ts';
import { type Client, type ClientRequest, isError } from './client.ts';
import { matchPath } from './proxy-event.ts';

/** An operation of the contract, generated from openapi.yaml (`npm run generate`). */
export interface CheckedOperation {
  operationId: string;
  method: string;
  /** Path with parameters in braces, such as `/plants/{id}`. */
  path: string;
  /** True if the operation has a request body, which must be `application/json`. */
  needsJson: boolean;
  /** True if the body is valid for a response 200, without additional members. */
  isResponse: (body: unknown) => body is object;
}

/** Facts that the pre-traffic hook knows of a deployment, and the smoke test does not. */
export interface DeploymentFacts {
  expiredToken: string;
  /** An origin whose pages can read the responses. */
  allowedOrigin?: string | undefined;
  /** Issuer, audience and scope of the identity provider's tokens. */
  tokenIssuer?: string | undefined;
  tokenAudience?: string | undefined;
  tokenScope?: string | undefined;
}

export const UNKNOWN_TOKEN = `plantstore_${'0'.repeat(43)}`;
const UNKNOWN_PATH = '/none/a/b';
const METHODS = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** A body that is neither JSON nor text, on which API Gateway's mapping templates fail. */
const BINARY: ClientRequest = {
  headers: { 'content-type': 'application/octet-stream' },
  body: Uint8Array.of(0xff, 0x00),
};
const WRONG_CONTENT_TYPES = ['text/plain', 'application/problem+json'];

/** Returns the checks that apply to every operation, and those of unknown paths and methods. */
export function contractChecks(operations: CheckedOperation[], facts?: DeploymentFacts): Check[] {
  const known = [...Map.groupBy(operations, ({ path }) => path)];
  return [
    ...operations.flatMap((operation) => operationChecks(operation, facts)),
    ...unknownPaths(operations).map((path) => notFoundCheck(path, METHODS)),
    ...known.flatMap(([path, operationsOfPath]) => {
      const excluded = ['OPTIONS', ...operationsOfPath.map(({ method }) => method)];
      const others = METHODS.filter((method) => !excluded.includes(method));
      return [notFoundCheck(path, others), preflightCheck(path, operationsOfPath)];
    }),
    requestIdCheck('each error response', (client) => [
      ...operations.map((operation) => harmlessRequest(client, operation, { headers: { authorization: '' } })),
      { path: UNKNOWN_PATH, body: '{}' },
    ]),
  ];
}

/** Returns a request to an operation that changes no data: its body is invalid, or nobody uses its ids. */
function harmlessRequest(client: Client, operation: CheckedOperation, changes: ClientRequest): ClientRequest {
  return { method: operation.method, path: pathWithUnusedIds(client, operation.path), body: '{}', ...changes };
}

/** Replaces path parameters with ids that no other client uses: a broken version could change other plants. */
function pathWithUnusedIds(client: Client, path: string): string {
  return path.replaceAll(/\{.+?\}/g, (parameter) => String(client.id(parameter)));
}

function operationChecks(operation: CheckedOperation, facts?: DeploymentFacts): Check[] {
  const name = `${operation.method} ${operation.path}`;
  const errorFor = (condition: string, changes: ClientRequest, number: number) =>
    errorCheck(`${name} ${condition}`, (client) => harmlessRequest(client, operation, changes), number);
  const bodyChecks = [
    errorFor('without a token and with an invalid body', { body: '{"id":', headers: { authorization: '' } }, 401),
    errorFor('with a body that is not JSON', { body: '{"id":' }, 400),
    errorFor('with an empty body', { body: '' }, 400),
    errorFor('without Content-Type', { headers: { 'content-type': '' } }, 415),
    ...WRONG_CONTENT_TYPES.map((type) =>
      errorFor(`with the Content-Type ${type}`, { headers: { 'content-type': type } }, 415),
    ),
  ];
  const corsCheck = (origin: string): Check => ({
    title: `pages of ${origin} can read the responses to ${name}`,
    run: (client) => expectAllowedOrigin(client, operation, origin),
  });
  return [
    ...Object.entries(invalidAuthorizations(facts)).map(([condition, headerFor]) =>
      unauthorizedCheck(operation, condition, headerFor),
    ),
    ...(operation.needsJson ? bodyChecks : []),
    ...(facts?.allowedOrigin === undefined ? [] : [corsCheck(facts.allowedOrigin)]),
  ];
}

/** Functions that make an invalid Authorization header from a valid token. An empty value removes the header. */
function invalidAuthorizations(facts?: DeploymentFacts): Record<string, (validToken: string) => string> {
  return {
    'without Authorization header': () => '',
    'with the scheme Basic': () => 'Basic cGxhbnQ6c3RvcmU=',
    'with a malformed token': () => 'Bearer secret',
    'with an unknown token': () => `Bearer ${UNKNOWN_TOKEN}`,
    'with a valid token without its last character': (token) => `Bearer ${token.slice(0, -1)}`,
    'with a valid token and one more character': (token) => `Bearer ${token}0`,
    // Changes the second last character: the last one of a JWT may contain only two bits of the signature.
    'with a valid token that ends differently': (token) =>
      `Bearer ${token.slice(0, -2)}${token.at(-2) === '0' ? '1' : '0'}${token.slice(-1)}`,
    'with an unsigned JWT': () => `Bearer ${jwt({ alg: 'none' }, facts, () => Buffer.of())}`,
    'with a JWT signed with an unknown key': () => `Bearer ${jwt({ alg: 'ES256' }, facts, signWithUnknownKey)}`,
    ...(facts && { 'with an expired token': () => `Bearer ${facts.expiredToken}` }),
  };
}

/** Returns a JWT with the claims of a valid access token (RFC 9068), as far as they are known. */
function jwt(header: { alg: string }, facts: DeploymentFacts | undefined, signer: (text: string) => Buffer): string {
  const { tokenIssuer: iss = 'https://issuer.example', tokenAudience: aud = 'plants', tokenScope: scope } = facts ?? {};
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss, aud, scope, sub: 'check', client_id: 'check', iat: now, exp: now + 300 };
  const parts = [{ typ: 'at+jwt', ...header }, claims].map((part) => Buffer.from(JSON.stringify(part)));
  const signingInput = parts.map((part) => part.toString('base64url')).join('.');
  return `${signingInput}.${signer(signingInput).toString('base64url')}`;
}

function signWithUnknownKey(text: string): Buffer {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' });
}

/** WWW-Authenticate must contain an error only if the request has a bearer token (RFC 6750, 3). */
function unauthorizedCheck(
  operation: CheckedOperation,
  condition: string,
  headerFor: (token: string) => string,
): Check {
  return {
    title: `${operation.method} ${operation.path} ${condition} gets error 401 and a WWW-Authenticate header`,
    run: async (client) => {
      const authorization = headerFor(client.token);
      const request = harmlessRequest(client, operation, { headers: { authorization } });
      // If the identity provider is down, every JWT gets error 503, which shows too that the token is not accepted.
      const isJwt = authorization.split('.').length === 3;
      if (isJwt && isError(await client.send(request), 503)) return;
      const { headers } = await runStep(client, [request, error(401)]);
      // API Gateway renames the header in responses of a function ("Amazon API Gateway important notes").
      const challenge = headers['www-authenticate'] ?? headers['x-amzn-remapped-www-authenticate'] ?? '';
      const expected = authorization.startsWith('Bearer ') ? 'error="invalid_token"' : 'no error';
      const [actual] = /\berror="?[^",]*"?/.exec(challenge) ?? ['no error'];
      if (!/^Bearer .*\brealm="[^"]+"/i.test(challenge) || actual !== expected) {
        throw new Error(`WWW-Authenticate is "${challenge}"; it must be Bearer realm="..." with ${expected}`);
      }
    },
  };
}

/** Checks the CORS header of the responses to requests with and without a valid token. */
async function expectAllowedOrigin(client: Client, operation: CheckedOperation, origin: string): Promise<void> {
  for (const authorization of ['', `Bearer ${client.token}`]) {
    const { headers } = await client.sendOnce(
      harmlessRequest(client, operation, { headers: { origin, authorization } }),
    );
    const allowed = headers['access-control-allow-origin'];
    if (allowed === '*' || allowed === origin) continue;
    throw new Error(`Access-Control-Allow-Origin is ${allowed ?? 'missing'}; it must be ${origin} or *`);
  }
}

function notFoundCheck(path: string, methods: string[]): Check {
  return {
    title: `${path} with ${methods.join(', ')} gets error 404`,
    needsGateway: true,
    run: async (client) => {
      for (const method of methods) {
        const request = { ...(method !== 'GET' && BINARY), method, path: pathWithUnusedIds(client, path) };
        await runStep(client, [request, error(404)]).catch((failure: Error) => {
          throw new Error(`${method}: ${failure.message}`);
        });
      }
    },
  };
}

function preflightCheck(path: string, operations: CheckedOperation[]): Check {
  const methods = operations.map(({ method }) => method);
  return {
    title: `OPTIONS ${path} is a correct preflight for ${methods.join(' and ')}, or gets error 404`,
    needsGateway: true,
    run: async (client) => {
      const headers = {
        authorization: '',
        'content-type': '',
        origin: 'https://app.example.com',
        'access-control-request-method': methods[0] ?? '',
      };
      const request = { method: 'OPTIONS', path: pathWithUnusedIds(client, path), headers };
      const response = await client.sendOnce(request);
      if (response.status !== 200) {
        await runStep(client, [request, error(404)]);
        return;
      }
      const { 'access-control-allow-methods': allowed = 'missing', 'access-control-allow-origin': origin = 'missing' } =
        response.headers;
      const forbidden = methods.find((method) => !allowed.split(/\s*,\s*/).includes(method));
      if (forbidden) throw new Error(`Access-Control-Allow-Methods is ${allowed}; it must contain ${forbidden}`);
      // With "*", the allowed origins are unknown: the function's responses may allow only some.
      if (origin === '*') return;
      for (const operation of operations) await expectAllowedOrigin(client, operation, origin);
    },
  };
}

/** Returns paths that are similar to those of the contract, but not in it. */
function unknownPaths(operations: CheckedOperation[]): string[] {
  const similar = operations.flatMap(({ path }) => [path.replace(/[^}]$/, ''), `${path}/none`]);
  const isKnown = (path: string) => operations.some((operation) => matchPath(path, operation.path));
  return [...new Set(['/', UNKNOWN_PATH, ...similar])].filter((path) => !isKnown(path));
}
