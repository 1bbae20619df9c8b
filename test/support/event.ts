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

/** The handler of an operation's index.ts, with a type that accepts any event: its own type is that of a parsed event. */
export function handlerOf({ handler }: { handler: unknown }) {
  return handler as (event: unknown, context: Context) => Promise<APIGatewayProxyResult>;
}

/** Imports an operation again, with the DynamoDB at this endpoint: a module reads its environment when it is loaded. */
export async function importHandler(folder: string, endpoint: string) {
  vi.resetModules();
  process.env['AWS_ENDPOINT_URL_DYNAMODB'] = endpoint;
  return handlerOf(await import(`../../functions/${folder}/index.ts`));
}
