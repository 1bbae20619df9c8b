import type { APIGatewayProxyEvent } from 'aws-lambda';
import { createPlant } from './create-plant.ts';

/* A handler without a framework. */

export const handler = async (event: APIGatewayProxyEvent) => {
  const { status, body } = await createPlant(event.headers['Authorization'], JSON.parse(event.body ?? '{}'));
  return { statusCode: status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
};
