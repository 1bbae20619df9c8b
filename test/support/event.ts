import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { vi } from 'vitest';

/** The files of the sample events, by their names without the ending. */
const files = Object.fromEntries(globSync('events/*.json').map((file) => [basename(file, '.json'), file]));

/** The names of the sample events. */
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
