import middy from '@middy/core';
import httpCors from '@middy/http-cors';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import validator from '@middy/validator';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { AccessTokenStore } from '../shared/access-token-store.ts';
import { bearerAuth } from '../shared/bearer-auth.ts';
import { Database } from '../shared/database.ts';
import { environmentVariable } from '../shared/environment-variable.ts';
import { errorResponse } from '../shared/error-response.ts';
import { EXPOSED_HEADERS } from '../shared/errors.ts';
import { exactId } from '../shared/exact-id.ts';
import { readableBody } from '../shared/readable-body.ts';
import { requestLog } from '../shared/request-log.ts';
import { strayRejections } from '../shared/stray-rejections.ts';
import validateEvent from './contract.generated.js';
import { type CreatePlantEvent, createPlant } from './create-plant.ts';
import { PlantStore } from './plant-store.ts';

const database = new Database();
const accessTokens = new AccessTokenStore(database, environmentVariable('ACCESS_TOKENS_TABLE_NAME'));
const plants = new PlantStore(database, environmentVariable('PLANTS_TABLE_NAME'));
await Promise.all([accessTokens.prime(), plants.prime()]);
/** Without origins no page may call the API from another one. */
const allowOrigins = process.env['ALLOW_ORIGINS']?.split(',');

/**
 * `POST /plants`: an API Gateway REST proxy event in, a proxy response out, 200 with a Plant or 400
 * with an Error. It never throws.
 *
 * Source: openapi.yaml, operation `createPlant`.
 */
export const handler = middy<CreatePlantEvent, APIGatewayProxyResult>()
  .use(requestLog())
  .use(allowOrigins ? httpCors({ origins: allowOrigins, exposeHeaders: EXPOSED_HEADERS }) : [])
  .use(errorResponse())
  .use(strayRejections())
  .use(httpHeaderNormalizer())
  .use(bearerAuth(accessTokens))
  .use(readableBody())
  .use(httpJsonBodyParser())
  .use(exactId())
  .use(validator({ eventSchema: validateEvent }))
  .handler(createPlant(plants));
