/*
 * Replaces node:http in the bundle: the same module, without its ESM facade, which would run its getters and so load undici
 * (nodejs/node issue 59686). That takes 25 ms of a cold start.
 */
const http = process.getBuiltinModule('node:http');

export default http;
export const {
  Agent,
  ClientRequest,
  createServer,
  get,
  globalAgent,
  IncomingMessage,
  METHODS,
  maxHeaderSize,
  OutgoingMessage,
  request,
  STATUS_CODES,
  Server,
  ServerResponse,
  validateHeaderName,
  validateHeaderValue,
} = http;
