import type { NewPlant, Plant } from '../../functions/create-plant/plant.generated.ts';
import { sampleEvent } from './event.ts';

const { id: _, ...members } = JSON.parse(String(sampleEvent('create-plant').body));

/** The plant of the sample event, with these members changed. A test names only the members that it is about. */
export function plantWith(changes: Partial<Plant> = {}): Plant {
  return { ...members, ...changes };
}

/** The JSON of a NewPlant. `id` is text, or a bigint, which `JSON.stringify` could not write. */
export function bodyOf(id: NewPlant['id'] | string | number, plant = plantWith()): string {
  return `{"id":${id},${JSON.stringify(plant).slice(1)}`;
}
