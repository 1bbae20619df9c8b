import middy from '@middy/core';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import validator from '@middy/validator';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { environmentVariable } from '../shared/environment-variable.ts';
import { bearerAuth } from '../shared/middleware/bearer-auth.ts';
import { cors } from '../shared/middleware/cors.ts';
import { decodeBody } from '../shared/middleware/decode-body.ts';
import { errorResponse } from '../shared/middleware/error-response.ts';
import { exactNumbers } from '../shared/middleware/exact-numbers.ts';
import { requestLog } from '../shared/middleware/request-log.ts';
import { accessTokens, dynamoDb } from '../shared/resources.ts';
import { type CreatePlantEvent, int64s, operationId, default as validateEvent } from './contract.generated.js';
import { createPlant } from './create-plant.ts';

/**
 * `POST /plants`: takes a REST proxy event of API Gateway, and returns a proxy response: 200 with a Plant, or 400 with an
 * Error. It never throws.
 *
 * A request passes the middleware from top to bottom, its response from bottom to top.
 *
 * Source: openapi.yaml, operation `createPlant`.
 */
export const handler = middy<CreatePlantEvent, APIGatewayProxyResult>()
  .use(requestLog(operationId))
  .use(cors())
  .use(errorResponse())
  .use(httpHeaderNormalizer())
  .use(bearerAuth(accessTokens))
  .use(decodeBody())
  .use(httpJsonBodyParser())
  .use(exactNumbers(int64s))
  .use(validator({ eventSchema: validateEvent }))
  .handler(createPlant(dynamoDb, environmentVariable('PLANTS_TABLE_NAME')));
