import middy from '@middy/core';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { environmentVariable } from '../environment.ts';
import { dynamoDb, tokenVerifiers } from '../init.ts';
import { bearerAuth } from '../middleware/bearer-auth.ts';
import { cors } from '../middleware/cors.ts';
import { errorResponse } from '../middleware/error-response.ts';
import { jsonBody } from '../middleware/json-body.ts';
import { requestLog } from '../middleware/request-log.ts';
import { validator } from '../middleware/validator.ts';
import { bodyShape, type CreatePlantEvent, operationId, default as validateEvent } from './contract.generated.js';
import { createPlant } from './create-plant.ts';

/**
 * `POST /plants` (openapi.yaml, `createPlant`). Takes an API Gateway REST proxy event, `unknown` until it is validated,
 * and returns a proxy response: 200 with a Plant, or 400 with an Error. After init, it never throws.
 *
 * A request passes through the middleware from top to bottom, the response or an error from bottom to top:
 * `errorResponse` turns an error into a response, and `cors` adds its headers to that.
 */
export const handler = middy<CreatePlantEvent, APIGatewayProxyResult>()
  .use(requestLog(operationId))
  .use(cors())
  .use(errorResponse())
  .use(httpHeaderNormalizer())
  .use(bearerAuth(tokenVerifiers))
  .use(jsonBody(bodyShape))
  .use(validator(validateEvent))
  .handler<unknown, APIGatewayProxyResult>(createPlant(dynamoDb, environmentVariable('PLANTS_TABLE_NAME')));
