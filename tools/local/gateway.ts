import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type ErrorNumber, errorHeaders } from '../../functions/errors.ts';
import { corsHeaders, preflightHeaders, requireOrigins } from '../../infra/shared-with-local-run/cors-headers.ts';
import { type ErrorBody, gatewayErrors, NOT_FOUND } from '../../infra/shared-with-local-run/gateway-errors.ts';
import { docsPage } from './docs.ts';
import { responseLine } from './log.ts';
import {
  type ApiHandler,
  httpResponse,
  LoadError,
  localContext,
  proxyEvent,
  type RawResponse,
} from './proxy-integration.ts';

/** "Quotas for configuring and running a REST API in API Gateway". */
const MAX_PAYLOAD_BYTES = 10 * 1024 * 1024;
/** "Lambda quotas", for a synchronous invocation. A body in base64 is a third larger. */
const MAX_EVENT_BYTES = 6_291_556;
/** The responses to larger requests. Nobody can change them ("Amazon API Gateway important notes"). */
const tooLarge = (mediaType: string, text: string) => ({ status: 413, headers: { 'content-type': mediaType }, text });
const PAYLOAD_TOO_LARGE = tooLarge('text/plain', `HTTP content length exceeded ${MAX_PAYLOAD_BYTES} bytes.`);
const EVENT_TOO_LARGE = tooLarge('application/json', '{"message":"Request Too Long"}');

/** The errors after which a client repeats a request. To test a client, ask for one with `Prefer: error=503`. */
const RETRYABLE_ERRORS: ErrorNumber[] = [429, 500, 503, 504];
/** With this `Prefer`, a request is carried out, but the connection is closed. Its repetition gets the response. */
const LOST_RESPONSE = 'lost-response';

interface Api {
  handler: ApiHandler;
  allowOrigins: string[];
}

/**
 * Returns a listener that responds as API Gateway does, and with the page at /docs.
 *
 * @param log gets a line for each response, without those of the page
 */
export function createGateway(handler: ApiHandler, log: (line: string) => void): RequestListener {
  const { ALLOW_ORIGINS } = process.env;
  const allowOrigins = ALLOW_ORIGINS ? ALLOW_ORIGINS.split(',') : [];
  requireOrigins('ALLOW_ORIGINS', allowOrigins);
  const api = { handler, allowOrigins };
  /** The digests of the bodies whose response was lost. A body can have 10 MB. */
  const lost = new Set<string>();

  return async (request, response) => {
    const start = performance.now();
    const { method = '', headers } = request;
    const [path = ''] = String(request.url).split('?');
    const extendedRequestId = randomBytes(11).toString('base64');
    const send = ({ status, headers, text }: RawResponse) => {
      const own = { 'content-length': Buffer.byteLength(text), 'x-amz-apigw-id': extendedRequestId };
      response.writeHead(status, { ...headers, ...own }).end(text);
    };
    const sendAndLog = (result: RawResponse) => {
      send(result);
      log(responseLine(`${method} ${path}`, result.status, result.text, performance.now() - start));
      if (result.text !== JSON.stringify(NOT_FOUND)) return;
      log('The paths and methods are in openapi.yaml.');
      if (headers.accept?.includes('text/html')) log('To try the API in a browser, open /docs.');
      const isFromWebPage = method === 'OPTIONS' || headers.origin !== undefined;
      if (isFromWebPage && allowOrigins.length === 0) log('For pages of other origins, set ALLOW_ORIGINS.');
    };
    try {
      // Read to its end, because many clients read the response only after they have sent the whole body.
      const body = await buffer(request);
      const docs = ['GET', 'HEAD'].includes(method) && (await docsPage(path, headers.accept));
      if (docs) return send(docs);
      const result = await respond(request, body, extendedRequestId, api);
      const digest = hash('sha256', body);
      // It is deleted when the repetition gets its response, so that a test with fixed ids also works a second time.
      if (headers['prefer'] !== LOST_RESPONSE || lost.delete(digest)) return sendAndLog(result);
      lost.add(digest);
      response.destroy();
      log(`${method} ${path}  ${result.status}, but the connection was closed, as the header Prefer asks`);
    } catch (thrown) {
      // The client has disconnected.
      if (response.destroyed) return;
      // API Gateway treats a failed function and an invalid response as a 502, so it sends DEFAULT_5XX.
      const loadError = thrown instanceof LoadError && { message: thrown.message };
      console.error(loadError ? loadError.message : thrown);
      sendAndLog(gatewayError({ ...gatewayErrors.DEFAULT_5XX, ...loadError }, api));
    }
  };
}

/** Returns the response of API Gateway, or that of the function. */
async function respond(request: IncomingMessage, body: Buffer, extendedRequestId: string, api: Api) {
  const { method, url, headers } = request;
  if (body.length > MAX_PAYLOAD_BYTES) return PAYLOAD_TOO_LARGE;
  const preferred = preferredError(headers['prefer']);
  if (preferred) return gatewayError(preferred, api);
  // API Gateway ignores a slash at the end. No page of AWS says so; users of Powertools for AWS Lambda measured it.
  const isPlants = /^\/plants\/?(\?|$)/.test(String(url));
  if (isPlants && method === 'OPTIONS') return preflightResponse(api);
  if (!isPlants || method !== 'POST') return gatewayError(NOT_FOUND, api);
  const event = proxyEvent(request, body, extendedRequestId);
  if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT_BYTES) return EVENT_TOO_LARGE;
  return httpResponse(await api.handler(event, localContext));
}

/** Returns the error that the header Prefer asks for, error 400 for a wrong value, or undefined for another header. */
function preferredError(prefer: string | string[] = ''): ErrorBody | undefined {
  // A server ignores a preference that it does not know (RFC 7240, 2).
  if (prefer === LOST_RESPONSE || !/^(error|lost)/.test(String(prefer))) return undefined;
  const error = RETRYABLE_ERRORS.find((number) => prefer === `error=${number}`);
  if (error !== undefined) return { error, message: 'The header Prefer asks for this error.' };
  const expected = `"error=" with one of ${RETRYABLE_ERRORS.join(', ')}, or "${LOST_RESPONSE}"`;
  return { error: 400, message: `The header Prefer was "${prefer}"; it must be ${expected}.` };
}

function preflightResponse(api: Api): RawResponse {
  const headers = preflightHeaders(api.allowOrigins);
  if (!headers) return gatewayError(NOT_FOUND, api);
  return { status: 200, headers: { ...headers, 'content-type': 'application/json' }, text: '' };
}

/** Returns an error response of API Gateway in the stack. */
function gatewayError(body: ErrorBody, { allowOrigins }: Api): RawResponse {
  const headers = { ...corsHeaders(allowOrigins), ...errorHeaders[body.error], 'content-type': 'application/json' };
  return { status: 400, headers, text: JSON.stringify(body) };
}
