import middy from '@middy/core';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { environmentVariable } from '#shared/environment.ts';
import { accessTokens, dynamoDb } from '#shared/init.ts';
import { bearerAuth } from '#shared/middleware/bearer-auth.ts';
import { cors } from '#shared/middleware/cors.ts';
import { errorResponse } from '#shared/middleware/error-response.ts';
import { requestLog } from '#shared/middleware/request-log.ts';
import { typedParameters } from '#shared/middleware/typed-parameters.ts';
import { validator } from '#shared/middleware/validator.ts';
import { type ListPlantsEvent, operationId, parameters, default as validateEvent } from './contract.generated.js';
import { listPlants } from './list-plants.ts';

/** `GET /plants`: 200 with a page of Plants, or 400 with an Error. */
export const handler = middy<ListPlantsEvent, APIGatewayProxyResult>()
  .use(requestLog(operationId))
  .use(cors())
  .use(errorResponse())
  .use(httpHeaderNormalizer())
  .use(bearerAuth(accessTokens))
  .use(typedParameters(parameters))
  .use(validator(validateEvent))
  .handler<unknown, APIGatewayProxyResult>(listPlants(dynamoDb, environmentVariable('PLANTS_TABLE_NAME')));
