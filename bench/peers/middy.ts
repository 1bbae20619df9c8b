import middy from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { createPlant } from './create-plant.ts';

/* A handler with Middy's parser of JSON. */

export const handler = middy()
  .use(httpJsonBodyParser())
  .handler(async ({ headers, body: newPlant }: Pick<APIGatewayProxyEvent, 'headers'> & { body: never }) => {
    const { status, body } = await createPlant(headers['Authorization'], newPlant);
    return { statusCode: status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  });
