import type { APIGatewayProxyEvent } from 'aws-lambda';
import { answer, BAD_REQUEST, CONFLICT, createPlant, log, tokenName, UNAUTHORIZED } from './database.ts';

/* No framework: the handler that one writes by hand. */

export const handler = async (event: APIGatewayProxyEvent) => {
  const start = performance.now();
  const owner = await tokenName(event.headers['Authorization']);
  if (owner === undefined) return answer(400, UNAUTHORIZED);
  const { id, name, tag } = JSON.parse(event.body ?? 'null') ?? {};
  const valid = Number.isInteger(id) && typeof name === 'string' && (tag === undefined || typeof tag === 'string');
  if (!valid) return answer(400, BAD_REQUEST);
  const created = await createPlant({ id, name, tag });
  log(created, owner, start);
  return created ? answer(200, { name, tag }) : answer(400, CONFLICT);
};
