import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { filesBefore, readEvent } from '../../tools/local/event.ts';
import { projectRoot } from '../../tools/local/synthesize.ts';

const fileOf = (name: string) => join(projectRoot, 'events', `${name}.json`);

/** The names of the sample events that must run before a sample event, in order. */
export const namesBefore = (name: string) => filesBefore(fileOf(name)).map((file) => basename(file, '.json'));

/**
 * The names of the sample events, in an order in which they can run: before each one, those that it needs. FOLDER and
 * FOLDER-VARIANT are successes of the operation in that folder; error-NNN-CAUSE is an error with that number.
 */
export const sampleNames = readdirSync(join(projectRoot, 'events'))
  .map((file) => basename(file, '.json'))
  .filter((name) => name !== 'before')
  .toSorted()
  .flatMap((name) => [...namesBefore(name), name]);

/**
 * The name of the sample event with the response to a repeated request: `error-NNN-FOLDER-again` if a repeat is an error,
 * or else the operation's own event.
 */
export function nameOfRepeat(folder: string): string {
  return sampleNames.find((name) => new RegExp(`^error-\\d{3}-${folder}-again$`).test(name)) ?? folder;
}

/** The expected `error` of the response to a sample event; undefined for a success. */
export function errorOfSample(name: string): number | undefined {
  const [, error] = /^error-(\d{3})-/.exec(name) ?? [];
  return error === undefined ? undefined : Number(error);
}

export const sampleEvent = (name: string): APIGatewayProxyEvent => readEvent(fileOf(name));

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
