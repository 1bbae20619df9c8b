// Generated from openapi.yaml by npm run generate. Do not edit.
import type { StoredItem } from '../dynamodb/client.ts';

/** A plant as a client sends it (openapi.yaml, `NewPlant`). The id is an int64: a bigint from 2^53 on. */
export interface NewPlant {
  id: number | bigint;
  name: string;
  tag?: string;
}

/** A plant as the service returns it (openapi.yaml, `Plant`). */
export type Plant = Omit<NewPlant, 'id'>;

/** Converts a plant to an item of the plants table. */
export function toItem(plant: NewPlant) {
  return {
    id: { N: String(plant.id) },
    name: { S: plant.name },
    ...(plant.tag !== undefined && { tag: { S: plant.tag } }),
  };
}

/** Returns the members of a stored plant, the id in decimal digits. A member that the item lacks is undefined. */
export function fromItem(item: StoredItem) {
  return {
    id: item['id']?.N,
    name: item['name']?.S,
    tag: item['tag']?.S,
  };
}
