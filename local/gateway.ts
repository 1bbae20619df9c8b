import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Deployment } from './deploy.ts';
import { type RequestIds, type ServerRequest, targetOf } from './event.ts';
import { answerTo, BODY_TOO_LARGE, gatewayResponse } from './rest-api.ts';
import type { Answer } from './template.ts';

/** "Quotas for configuring and running a REST API in API Gateway". */
const MAX_HEADER_BYTES = 10_240;
/** Of a path in an access line, in characters. */
const MAX_PATH_SHOWN = 200;

/** One answered request; `-` stands for a method or a path that could not be read. */
export interface AccessLine {
  method: string;
  path: string;
  status: number;
  /** The `error` of the answer's body; absent on success. */
  error: number | undefined;
  durationMs: number;
}

/** The method and the path of what is answered, and since when. */
type Asked = Pick<AccessLine, 'method' | 'path'> & { start: number };

/** What node:http says of bytes that it cannot read as a request. */
type ParserError = NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number };

/** The deployed REST API on `node:http`: whatever is sent is answered as the contract has it. */
export function createGateway(current: () => Deployment, onAnswer: (line: AccessLine) => void): Server {
  /** The newest response of a connection; those before it are sent first. */
  const newest = new WeakMap<object, ServerResponse>();

  function send(response: ServerResponse, answer: Answer, ids: RequestIds, asked: Asked): void {
    if (response.destroyed || response.headersSent) return;
    const { statusCode, headers, body } = answer;
    response
      .writeHead(statusCode, {
        ...headers,
        'content-length': Buffer.byteLength(body),
        ...(answer !== BODY_TOO_LARGE && {
          'x-amzn-requestid': ids.requestId,
          'x-amz-apigw-id': ids.extendedRequestId,
        }),
      })
      .end(body);
    const { method, start } = asked;
    const path = asked.path.length > MAX_PATH_SHOWN ? `${asked.path.slice(0, MAX_PATH_SHOWN)}…` : asked.path;
    onAnswer({ method, path, status: statusCode, error: errorOf(body), durationMs: performance.now() - start });
  }

  async function answer(request: ServerRequest, response: ServerResponse): Promise<void> {
    newest.set(request.socket, response);
    const target = targetOf(request.url);
    const asked = { method: request.method, path: target.path, start: performance.now() };
    const ids = requestIds(request.headers['x-amzn-requestid']);
    send(response, await answerTo(current(), request, target, ids), ids, asked);
  }

  /** Answers by a gateway response what node:http makes no request of, and ends the connection. */
  function refuse(socket: Socket, type: string, { method, path }: Pick<AccessLine, 'method' | 'path'>): void {
    const before = newest.get(socket);
    const answering = before !== undefined && !before.writableFinished && !before.destroyed;
    if (answering && before.req.complete) {
      before.once('close', () => refuse(socket, type, { method, path }));
      return;
    }
    if (!socket.writable) return void socket.destroy();
    const response = answering ? before : new ServerResponse(new IncomingMessage(socket));
    response.shouldKeepAlive = false;
    if (!answering) response.assignSocket(socket);
    response.once('finish', () => socket.end());
    send(response, gatewayResponse(current().template, type), requestIds(), { method, path, start: performance.now() });
  }

  const listener = (request: IncomingMessage, response: ServerResponse) => {
    // A caller that went away while sending has nobody to be answered.
    answer(request as ServerRequest, response).catch(() => response.destroy());
  };
  // node:http refuses what is as large as its limit, and counts the address and the headers' names and values.
  return createServer({ maxHeaderSize: MAX_HEADER_BYTES + 1, requireHostHeader: false }, listener)
    .on('checkExpectation', listener)
    .on('connect', ({ url }, socket) => {
      refuse(socket as Socket, 'MISSING_AUTHENTICATION_TOKEN', { method: 'CONNECT', path: String(url) });
    })
    .on('clientError', (error: ParserError, socket) => {
      const line = requestLine(error);
      const unknownMethod = error.code === 'HPE_INVALID_METHOD' && line !== undefined;
      const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
      const type = unknownMethod ? 'MISSING_AUTHENTICATION_TOKEN' : tooLarge ? 'REQUEST_TOO_LARGE' : 'DEFAULT_4XX';
      refuse(socket as Socket, type, line ?? { method: '-', path: '-' });
    });
}

/** A caller can choose the one, if it is a UUID, and never the other ("Variables for access logging for API Gateway"). */
function requestIds(chosen?: string | string[]): RequestIds {
  const isUuid = typeof chosen === 'string' && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(chosen);
  return {
    requestId: isUuid ? chosen : randomUUID(),
    extendedRequestId: randomBytes(11).toString('base64'),
  };
}

/** The request line at which the parser stopped, where it is one (RFC 9112, section 3). */
function requestLine({ rawPacket, bytesParsed = 0 }: ParserError): Pick<AccessLine, 'method' | 'path'> | undefined {
  const bytes = rawPacket?.toString('latin1') ?? '';
  const line = bytes.slice(bytes.lastIndexOf('\n', bytesParsed - 1) + 1);
  const words = /^([\w!#$%&'*+.^`|~-]+) ([!-~]+) HTTP\/1\.[01]\r?\n/.exec(line);
  return words ? { method: String(words[1]), path: targetOf(String(words[2])).path } : undefined;
}

function errorOf(body: string): number | undefined {
  try {
    return JSON.parse(body).error;
  } catch {
    return undefined;
  }
}
