import type { Server } from 'node:http';
import dynalite from 'dynalite';
import db from 'dynalite/db/index.js';
import deleteItem from 'dynalite/validations/deleteItem.js';
import putItem from 'dynalite/validations/putItem.js';
import updateItem from 'dynalite/validations/updateItem.js';

/*
 * dynalite ignores ReturnValuesOnConditionCheckFailure ("PutItem", "UpdateItem" and "DeleteItem", Amazon DynamoDB API
 * Reference). This adds it to the parameters, and the stored item to the error if the condition of a write fails.
 */
const PARAMETER = 'ReturnValuesOnConditionCheckFailure';
for (const { types } of [deleteItem, putItem, updateItem]) {
  types[PARAMETER] = { type: 'String', enum: ['ALL_OLD', 'NONE'] };
}
const { checkConditional } = db;
db.checkConditional = (input, stored) => {
  const failure = checkConditional(input, stored);
  if (failure && stored && input[PARAMETER] === 'ALL_OLD') Object.assign(failure.body, { Item: stored });
  return failure;
};

/**
 * Creates the server of the embedded DynamoDB.
 *
 * @param path the folder of its data; default: it keeps the data in memory
 */
export function createEmbeddedDynamoDb(path?: string): Server {
  const server = dynalite({ ...(path && { path }), createTableMs: 0 });
  // Without this, a client that disconnects while it sends its body would crash dynalite, and the local run.
  server.on('request', (request) => request.removeAllListeners('error').on('error', () => {}));
  return server;
}
