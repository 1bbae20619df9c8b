import middy from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import validator from '@middy/validator';
import { transpileSchema } from '@middy/validator/transpile';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { CONFLICT, createPlant, jsonResponse, log, type NewPlant, tokenName, UNAUTHORIZED } from './database.ts';

/* Follows the guide of Middy's validator: the schema is compiled at run time. */

const schema = {
  type: 'object',
  required: ['body'],
  properties: {
    body: {
      type: 'object',
      required: ['id', 'name'],
      properties: { id: { type: 'integer' }, name: { type: 'string' }, tag: { type: 'string' } },
    },
  },
};

interface ParsedEvent {
  headers: APIGatewayProxyEvent['headers'];
  body: NewPlant;
}

export const handler = middy<ParsedEvent>()
  .use(httpJsonBodyParser())
  .use(validator({ eventSchema: transpileSchema(schema) }))
  .handler(async ({ headers, body }) => {
    const start = performance.now();
    const owner = await tokenName(headers['Authorization']);
    if (owner === undefined) return jsonResponse(400, UNAUTHORIZED);
    const created = await createPlant(body);
    log(created, owner, start);
    return created ? jsonResponse(200, { name: body.name, tag: body.tag }) : jsonResponse(400, CONFLICT);
  });
