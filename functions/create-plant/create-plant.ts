import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { pick, success } from '../shared/success.ts';
import { type CreatePlantEvent, type CreatePlantResponse, plantMembers } from './contract.generated.js';
import type { PlantsTable } from './plants-table.ts';

/** Stores the NewPlant and responds with the Plant (openapi.yaml, `createPlant`). */
export function createPlant(plants: PlantsTable) {
  return async ({ body }: CreatePlantEvent, context: Context): Promise<APIGatewayProxyResult> => {
    await plants.create(body, context);
    return success<CreatePlantResponse>(pick(body, plantMembers));
  };
}
