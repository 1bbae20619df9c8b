import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Deployment } from './deploy.ts';
import { gatewayResponse, respond } from './rest-api.ts';
import type { GatewayResponse } from './template.ts';

/** "Quotas for configuring and running a REST API in API Gateway". */
const MAX_HEADER_BYTES = 10_240;
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** The response to a larger body: without a request id, and no gateway response ("Amazon API Gateway important notes"). */
const BODY_TOO_LARGE: GatewayResponse = {
  statusCode: 413,
  headers: { 'content-type': 'text/plain' },
  body: `HTTP content length exceeded ${MAX_BODY_BYTES} bytes.`,
};

/** The gateway response types for what node:http cannot read as a request; any other is DEFAULT_4XX. */
const TYPES_BY_ERROR_CODE: Record<string, string> = {
  HPE_INVALID_METHOD: 'MISSING_AUTHENTICATION_TOKEN',
  HPE_HEADER_OVERFLOW: 'REQUEST_TOO_LARGE',
};

/**
 * Serves a deployed REST API with node:http. Every response is in the contract, also to a malformed request.
 *
 * @param log is called with a line for each response; `-` is a method or a path that could not be read
 */
export function createGateway(current: () => Deployment, log: (line: string) => void): Server {
  function logResponse({ statusCode, body }: GatewayResponse, start: number, method = '-', path = '-'): void {
    const error = /^\{"error":(\d+)/.exec(body)?.[1] ?? '-';
    log([method, path, statusCode, error, `${(performance.now() - start).toFixed(1)} ms`].join('  '));
  }

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    // The reference page has responded.
    if (response.writableEnded) return;
    const start = performance.now();
    const method = String(message.method);
    const { path, query } = parseTarget(String(message.url));
    const ids = requestIds();
    const body = await readBody(message);
    const sent = body ? await respond(current(), { message, method, path, query, body, ids }) : BODY_TOO_LARGE;
    if (response.destroyed) return;
    const headers = sent === BODY_TOO_LARGE ? sent.headers : allHeaders(sent, ids);
    response.writeHead(sent.statusCode, headers).end(sent.body);
    logResponse(sent, start, method, path);
  }

  /** Sends a gateway response for which node:http makes no ServerResponse, and closes the connection. */
  function endWith(socket: Duplex, type: string): void {
    if (!socket.writable) return void socket.destroy();
    const sent = gatewayResponse(current().template, type);
    const headers = Object.entries({ ...allHeaders(sent, requestIds()), connection: 'close' });
    const head = [
      `HTTP/1.1 ${sent.statusCode} ${STATUS_CODES[sent.statusCode]}`,
      ...headers.map((pair) => pair.join(': ')),
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${sent.body}`);
    logResponse(sent, performance.now());
  }

  const listener = (message: IncomingMessage, response: ServerResponse) => {
    // Fails if the client disconnects while it sends its body.
    handle(message, response).catch(() => response.destroy());
  };
  // node:http rejects a header as large as its limit.
  return createServer({ maxHeaderSize: MAX_HEADER_BYTES + 1, requireHostHeader: false }, listener)
    .on('checkExpectation', listener)
    .on('connect', (_, socket) => endWith(socket, 'MISSING_AUTHENTICATION_TOKEN'))
    .on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket) => {
      endWith(socket, TYPES_BY_ERROR_CODE[code] ?? 'DEFAULT_4XX');
    });
}

/** The path and the query of a request target, such as `/plants?a=b` or `http://host/plants` (RFC 9112, 3.2). */
function parseTarget(url: string): { path: string; query: string } {
  const [path, ...query] = url.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  return { path: path || '/', query: query.join('?') };
}

/** Reads the body to its end, so that the client reads the response. Returns nothing if it is too large. */
async function readBody(message: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return bytes <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}

function requestIds() {
  return { requestId: randomUUID(), extendedRequestId: randomBytes(11).toString('base64') };
}

function allHeaders({ headers, body }: GatewayResponse, ids: ReturnType<typeof requestIds>) {
  return {
    ...headers,
    'content-length': Buffer.byteLength(body),
    'x-amzn-requestid': ids.requestId,
    'x-amz-apigw-id': ids.extendedRequestId,
  };
}
