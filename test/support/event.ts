import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { readEvent } from '../../tools/local/event.ts';
import { projectRoot } from '../../tools/local/synthesize.ts';

const folder = join(projectRoot, 'events');

/** The names of the sample events: the names of their files without the ending. */
export const sampleNames = readdirSync(folder).map((file) => basename(file, '.json'));

export const sampleEvent = (name: string): APIGatewayProxyEvent => readEvent(join(folder, `${name}.json`));

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
