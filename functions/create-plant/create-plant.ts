import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import { success } from '../shared/success.ts';
import { type CreatePlantEvent, plantMembers } from './contract.generated.js';
import type { PlantsTable } from './plants-table.ts';

/** The operation itself: stores the NewPlant and answers it as a Plant (openapi.yaml, `createPlant`). */
export function createPlant(plants: PlantsTable) {
  return async ({ body }: CreatePlantEvent, context: Context): Promise<APIGatewayProxyResult> => {
    await plants.create(body, context);
    return success(Object.fromEntries(plantMembers.map((member) => [member, body[member]])));
  };
}
