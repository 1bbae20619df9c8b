import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { vi } from 'vitest';
import type { NewPlant, Plant } from '../../functions/create-plant/plant.generated.ts';

/** The files of the sample events, by their names without the ending. */
const files = Object.fromEntries(globSync('events/*.json').map((file) => [basename(file, '.json'), file]));

export const sampleNames = Object.keys(files);

export const sampleEvent = (name: string): APIGatewayProxyEvent =>
  JSON.parse(readFileSync(files[name] ?? name, 'utf8'));

/** The sample event `create-plant` with these changes. */
export function eventWith(changes: Partial<APIGatewayProxyEvent> = {}): APIGatewayProxyEvent {
  return { ...sampleEvent('create-plant'), ...changes };
}

/** An invocation context with this time left and only the members that the function reads. */
export function contextWith(remainingMs = 60_000): Context {
  const end = Date.now() + remainingMs;
  return {
    functionVersion: '7',
    getRemainingTimeInMillis: () => end - Date.now(),
  } as Context;
}

type EventHandler = (event: unknown, context: Context) => Promise<APIGatewayProxyResult>;

/** Imports the function again, perhaps with another DynamoDB: a module reads its environment when it is loaded. */
export async function importHandler(endpoint?: string): Promise<EventHandler> {
  vi.resetModules();
  if (endpoint !== undefined) process.env['AWS_ENDPOINT_URL_DYNAMODB'] = endpoint;
  return (await import('../../functions/index.ts')).handler;
}

const { id: _, ...members } = JSON.parse(String(sampleEvent('create-plant').body));

/** The first string of the sample event. Tests use it instead of a name, so that they do not break with a rename. */
export const [TEXT_MEMBER = ''] = Object.keys(members).filter((name) => typeof members[name] === 'string');

/** The plant of the sample event, or another one with this text. */
export function plantWith(text: string = members[TEXT_MEMBER]): Plant {
  return { ...members, [TEXT_MEMBER]: text };
}

/** The JSON of a NewPlant. `id` is text, or a bigint, which `JSON.stringify` could not write. */
export function bodyOf(id: NewPlant['id'] | string | number, plant = plantWith()): string {
  return `{"id":${id},${JSON.stringify(plant).slice(1)}`;
}
