import type { APIGatewayProxyEvent } from 'aws-lambda';
import { BAD_REQUEST, CONFLICT, createPlant, jsonResponse, log, tokenName, UNAUTHORIZED } from './database.ts';

/* A handler without a framework. */

export const handler = async (event: APIGatewayProxyEvent) => {
  const start = performance.now();
  const owner = await tokenName(event.headers['Authorization']);
  if (owner === undefined) return jsonResponse(400, UNAUTHORIZED);
  const { id, name, tag } = JSON.parse(event.body ?? 'null') ?? {};
  const valid = Number.isInteger(id) && typeof name === 'string' && (tag === undefined || typeof tag === 'string');
  if (!valid) return jsonResponse(400, BAD_REQUEST);
  const created = await createPlant({ id, name, tag });
  log(created, owner, start);
  return created ? jsonResponse(200, { name, tag }) : jsonResponse(400, CONFLICT);
};
