import middy from '@middy/core';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { dynamoDb, tokenVerifiers } from '#shared/dependencies.ts';
import { environmentVariable } from '#shared/environment.ts';
import { bearerAuth } from '#shared/http/bearer-auth.ts';
import { cors } from '#shared/http/cors.ts';
import { errorResponse } from '#shared/http/error-response.ts';
import { requestLog } from '#shared/http/request-log.ts';
import { typedParameters } from '#shared/http/typed-parameters.ts';
import { validator } from '#shared/http/validator.ts';
import { type GetPlantEvent, operationId, parameterShapes, default as validateEvent } from './contract.generated.js';
import { getPlant } from './get-plant.ts';

/** `GET /plants/{id}`: 200 with the Plant, or 400 with an Error. */
export const handler = middy<GetPlantEvent, APIGatewayProxyResult>()
  .use(requestLog(operationId))
  .use(cors())
  .use(errorResponse())
  .use(httpHeaderNormalizer())
  .use(bearerAuth(tokenVerifiers))
  .use(typedParameters(parameterShapes))
  .use(validator(validateEvent))
  .handler<unknown, APIGatewayProxyResult>(getPlant(dynamoDb, environmentVariable('PLANTS_TABLE_NAME')));
