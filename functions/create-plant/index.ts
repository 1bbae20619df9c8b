import middy from '@middy/core';
import httpCors from '@middy/http-cors';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import validator from '@middy/validator';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { AccessTokenStore } from './access-token-store.ts';
import { bearerAuth } from './bearer-auth.ts';
import validateEvent from './contract.generated.js';
import { type CreatePlantEvent, createPlant } from './create-plant.ts';
import { connectToDynamoDb } from './dynamodb.ts';
import { environmentVariable } from './environment-variable.ts';
import { errorResponse } from './error-response.ts';
import { EXPOSED_HEADERS } from './errors.ts';
import { exactId } from './exact-id.ts';
import { PlantStore } from './plant-store.ts';
import { readableBody } from './readable-body.ts';
import { requestLog } from './request-log.ts';
import { strayRejections } from './stray-rejections.ts';

const dynamoDb = connectToDynamoDb();
const accessTokens = new AccessTokenStore(dynamoDb, environmentVariable('ACCESS_TOKENS_TABLE_NAME'));
const plants = new PlantStore(dynamoDb, environmentVariable('PLANTS_TABLE_NAME'));
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
