import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { filesBefore, readEvent } from '../../local/event.ts';
import { projectRoot } from '../../local/synthesize.ts';

const fileOf = (name: string) => join(projectRoot, 'events', `${name}.json`);

/** The names of the sample events that a sample event needs before it, in their order. */
export const namesBefore = (name: string) => filesBefore(fileOf(name)).map((file) => basename(file, '.json'));

/**
 * The names of the sample events, in an order in which they can run: each again before those that need it. FOLDER and
 * FOLDER-WHAT are a success of the operation in that folder, error-NNN-WHAT is that error.
 */
export const sampleNames = readdirSync(join(projectRoot, 'events'))
  .map((file) => basename(file, '.json'))
  .filter((name) => name !== 'before')
  .toSorted()
  .flatMap((name) => [...namesBefore(name), name]);

/** The name of the sample event that repeats the plain success of an operation: the same one, if a repeat is a success. */
export function nameOfRepeat(folder: string): string {
  return sampleNames.find((name) => new RegExp(`^error-\\d{3}-${folder}-again$`).test(name)) ?? folder;
}

/** The `error` of the response to a sample event; nothing if it succeeds. */
export function errorOfSample(name: string): number | undefined {
  const [, error] = /^error-(\d{3})-/.exec(name) ?? [];
  return error === undefined ? undefined : Number(error);
}

export const sampleEvent = (name: string): APIGatewayProxyEvent => readEvent(fileOf(name));

/** The sample event of a plain success of creating a plant, with what differs. */
export function eventWith(changes: Partial<APIGatewayProxyEvent> = {}): APIGatewayProxyEvent {
  return { ...sampleEvent('create-plant'), ...changes };
}

/** A context with this much time left, and only the members that the function reads. */
export function contextWith(remainingMs = 10_000): Context {
  const end = Date.now() + remainingMs;
  return {
    awsRequestId: 'the-request-id',
    functionVersion: '7',
    getRemainingTimeInMillis: () => end - Date.now(),
  } as Context;
}
