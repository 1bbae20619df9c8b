import type { APIGatewayProxyResult, Context } from 'aws-lambda';
import type { NewPlant, Plant } from './contract.generated.js';
import type { PlantStore } from './plant-store.ts';

/** The event as the middleware leaves it: its body parsed and valid. */
export interface CreatePlantEvent {
  body: NewPlant;
}

/** The operation itself: stores the NewPlant and answers it as a Plant (openapi.yaml, `createPlant`). */
export function createPlant(plants: PlantStore) {
  return async ({ body }: CreatePlantEvent, context: Context): Promise<APIGatewayProxyResult> => {
    await plants.create(body, context);
    const plant: Record<keyof Plant, unknown> = { name: body.name, tag: body.tag };
    // JSON leaves out the tag that a plant does not have.
    return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(plant) };
  };
}
