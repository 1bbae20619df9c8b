import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { projectRoot } from '../../local/synthesize.ts';

const directory = join(projectRoot, 'events');

/**
 * The names of the sample events, in an order in which they can run. FOLDER and FOLDER-WHAT are of a success
 * of the operation in that folder, error-NNN-WHAT of that error.
 */
export const sampleNames = readdirSync(directory)
  .map((file) => file.replace('.json', ''))
  .toSorted();

/** The `error` that a sample is answered with; nothing where it succeeds. */
export function errorOfSample(name: string): number | undefined {
  const [, error] = /^error-(\d{3})-/.exec(name) ?? [];
  return error === undefined ? undefined : Number(error);
}

export function sampleEvent(name: string): APIGatewayProxyEvent {
  return JSON.parse(readFileSync(join(directory, `${name}.json`), 'utf8'));
}

/** The sample event of a plain success of creating a plant, with what differs. */
export function eventWith(changes: Partial<APIGatewayProxyEvent> = {}): APIGatewayProxyEvent {
  return { ...sampleEvent('create-plant'), ...changes };
}

/** A context with so much time left; what the function does not read is not there. */
export function contextWith(remainingMs = 10_000): Context {
  const end = Date.now() + remainingMs;
  return {
    awsRequestId: 'the-request-id',
    functionVersion: '7',
    getRemainingTimeInMillis: () => end - Date.now(),
  } as Context;
}
