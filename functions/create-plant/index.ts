import httpJsonBodyParser from '@middy/http-json-body-parser';
import validator from '@middy/validator';
import { environmentVariable } from '../shared/environment-variable.ts';
import { exactNumbers } from '../shared/exact-numbers.ts';
import { accessTokens, dynamoDb, operation } from '../shared/operation.ts';
import { readableBody } from '../shared/readable-body.ts';
import { type CreatePlantEvent, int64s, operationId, default as validateEvent } from './contract.generated.js';
import { createPlant } from './create-plant.ts';
import { PlantsTable } from './plants-table.ts';

const plants = new PlantsTable(dynamoDb, environmentVariable('PLANTS_TABLE_NAME'));
await accessTokens.prime();

/**
 * `POST /plants`: an API Gateway REST proxy event in, a proxy response out, 200 with a Plant or 400
 * with an Error. It never throws.
 *
 * Source: openapi.yaml, operation `createPlant`.
 */
export const handler = operation<CreatePlantEvent>(operationId)
  .use(readableBody())
  .use(httpJsonBodyParser())
  .use(exactNumbers(int64s))
  .use(validator({ eventSchema: validateEvent }))
  .handler(createPlant(plants));
