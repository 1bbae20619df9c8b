import type { StoredItem } from '../dynamodb/client.ts';

/** A plant as the service returns it (openapi.yaml, `Plant`). */
export interface Plant {
  name: string;
  tag?: string;
}

/** A plant as a client sends it (openapi.yaml, `NewPlant`). */
export interface NewPlant extends Plant {
  /** An int64, a bigint from 2^53 on. */
  id: number | bigint;
}

/** Converts a plant to an item of the plants table. */
export function toItem({ id, name, tag }: NewPlant) {
  return { id: { N: String(id) }, name: { S: name }, ...(tag !== undefined && { tag: { S: tag } }) };
}

/** The members of a stored plant, the id in decimal digits. A member that the item lacks is undefined. */
type StoredPlant = { [Member in keyof Required<Plant>]: Plant[Member] | undefined } & { id: string | undefined };

/** Returns the members of a stored plant. */
export function fromItem({ id, name, tag }: StoredItem): StoredPlant {
  return { id: id?.N, name: name?.S, tag: tag?.S };
}
