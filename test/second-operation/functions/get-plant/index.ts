import validator from '@middy/validator';
import { environmentVariable } from '../shared/environment-variable.ts';
import { accessTokens, dynamoDb, operation } from '../shared/operation.ts';
import { typedParameters } from '../shared/typed-parameters.ts';
import { type GetPlantEvent, operationId, parameters, default as validateEvent } from './contract.generated.js';
import { getPlant } from './get-plant.ts';

const plantsTableName = environmentVariable('PLANTS_TABLE_NAME');
await accessTokens.prime();

/**
 * `GET /plants/{id}`: 200 with the Plant, or 400 with an Error, 404 where there is none of that id.
 *
 * Source: openapi.yaml, operation `getPlant`.
 */
export const handler = operation<GetPlantEvent>(operationId)
  .use(typedParameters(parameters))
  .use(validator({ eventSchema: validateEvent }))
  .handler(getPlant(dynamoDb, plantsTableName));
