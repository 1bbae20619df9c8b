import middy from '@middy/core';
import httpCors from '@middy/http-cors';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { type CreatePlantEvent, createPlant } from './create-plant/create-plant.ts';
import validateEvent from './create-plant/validate-event.generated.ts';
import { environmentVariable, optionalVariable } from './environment.ts';
import { EXPOSED_HEADERS, NOT_FOUND_MESSAGE, PlantStoreError } from './errors.ts';
import { bearerAuth } from './middleware/bearer-auth.ts';
import { errorResponse } from './middleware/error-response.ts';
import { jsonBody } from './middleware/json-body.ts';
import { requestLog } from './middleware/request-log.ts';
import { validator } from './middleware/validator.ts';
import { dynamoDb, tokenVerifiers } from './services.ts';
import { PRIMING_TIMEOUT_MS, RESPONSE_RESERVE_MS } from './time-limits.ts';
import { UNKNOWN_TOKEN } from './tokens/token.ts';

const origins = optionalVariable('ALLOW_ORIGINS')?.split(',');
// For Middy, an empty list is no middleware.
const cors = origins ? httpCors({ origins, exposeHeaders: EXPOSED_HEADERS }) : [];

/**
 * `POST /plants` (openapi.yaml, `createPlant`). Takes an API Gateway REST proxy event, `unknown` until it is validated,
 * and returns a proxy response: 200 with a Plant, or 400 with an Error. After init, it never throws.
 *
 * A request passes through the middleware from top to bottom, the response or an error from bottom to top:
 * `errorResponse` turns an error into a response, and `cors` adds its headers to that.
 */
export const handler = middy<CreatePlantEvent, APIGatewayProxyResult>()
  .use(requestLog())
  .use(cors)
  .use(errorResponse())
  .use(httpHeaderNormalizer())
  .use(bearerAuth(tokenVerifiers))
  .before(({ event: { httpMethod, resource } }) => {
    // During a release or a rollback, this version can get requests to a route that only another version has.
    const route = `${httpMethod ?? 'POST'} ${resource ?? '/plants'}`;
    if (route !== 'POST /plants') throw new PlantStoreError(404, NOT_FOUND_MESSAGE);
  })
  .use(jsonBody())
  .use(validator(validateEvent))
  .handler<unknown, APIGatewayProxyResult>(createPlant(dynamoDb, environmentVariable('PLANTS_TABLE_NAME')));

// Priming ("Maximize Lambda SnapStart performance"): init, which has a whole CPU, opens the connection and runs code
// for the first time. No client has this token, and the event has no plant, so nothing is stored.
const primingEvent = { headers: { Authorization: `Bearer ${UNKNOWN_TOKEN}` }, body: null };
// Without `functionVersion`, requestLog does not log the priming event.
const primingContext = { getRemainingTimeInMillis: () => RESPONSE_RESERVE_MS + PRIMING_TIMEOUT_MS } as Context;
await Promise.all([handler(primingEvent, primingContext), tokenVerifiers.jwt?.fetchKeys()]);
