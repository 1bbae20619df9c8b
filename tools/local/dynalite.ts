import type { RequestListener, Server } from 'node:http';
import { createRequire } from 'node:module';

// dynalite has no types.
const require = createRequire(import.meta.url);
const dynalite: (options: object) => Server = require('dynalite');
const db: { checkConditional: (put: object, stored?: object) => { body: object } | null } = require('dynalite/db');
const putItem: { types: Record<string, object> } = require('dynalite/validations/putItem');

// dynalite ignores unknown parameters, so it would not return the stored item.
putItem.types['ReturnValuesOnConditionCheckFailure'] = { type: 'String', enum: ['ALL_OLD'] };

// dynalite's error of a failed condition has no item. The function could then not recognize a repeated creation.
const { checkConditional } = db;
db.checkConditional = (put, stored) => {
  const failure = checkConditional(put, stored);
  if (failure && stored && 'ReturnValuesOnConditionCheckFailure' in put) Object.assign(failure.body, { Item: stored });
  return failure;
};

/**
 * Returns dynalite, a DynamoDB in this process, as a listener. Its own server never listens, because it checks no Host
 * and no Origin.
 *
 * @param path the folder of its data. Default: it keeps its data in memory
 */
export function createDynalite(path?: string): RequestListener {
  const server = dynalite({ ...(path !== undefined && { path }), createTableMs: 0 });
  return (request, response) => {
    server.emit('request', request, response);
    // dynalite throws this error, so a client that disconnects while it sends its body would end the local run.
    request.removeAllListeners('error').on('error', () => {});
  };
}
