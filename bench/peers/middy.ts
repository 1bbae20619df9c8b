import middy from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { createPlant } from './create-plant.ts';

/* A handler with Middy's parser of JSON. */

export const handler = middy<APIGatewayProxyEvent>()
  .use(httpJsonBodyParser<APIGatewayProxyEvent>())
  .handler(async ({ headers, body: newPlant }) => {
    const { status, body } = await createPlant(headers['Authorization'], Object(newPlant));
    return { statusCode: status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  });
