import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { vi } from 'vitest';
import { projectRoot } from '../../infra/project-root.ts';

const folder = join(projectRoot, 'events');

/** The names of the sample events: the names of their files without the ending. */
export const sampleNames = readdirSync(folder).map((file) => basename(file, '.json'));

export const sampleEvent = (name: string): APIGatewayProxyEvent =>
  JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));

/** The sample event `create-plant` with these changes. */
export function eventWith(changes: Partial<APIGatewayProxyEvent> = {}): APIGatewayProxyEvent {
  return { ...sampleEvent('create-plant'), ...changes };
}

/** An invocation context with this time left and only the members that the function reads. */
export function contextWith(remainingMs = 60_000): Context {
  const end = Date.now() + remainingMs;
  return {
    awsRequestId: 'the-request-id',
    functionVersion: '7',
    getRemainingTimeInMillis: () => end - Date.now(),
  } as Context;
}

type Handler = (event: unknown, context: Context) => Promise<APIGatewayProxyResult>;

/** Imports an operation again, perhaps with another DynamoDB: a module reads its environment when it is loaded. */
export async function importHandler(folder: string, endpoint?: string): Promise<Handler> {
  vi.resetModules();
  if (endpoint !== undefined) process.env['AWS_ENDPOINT_URL_DYNAMODB'] = endpoint;
  return (await import(`../../functions/${folder}/index.ts`)).handler;
}
