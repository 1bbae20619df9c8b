import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { projectRoot } from '../../local/synthesize.ts';

/** The sample event of a plain success, with what differs. */
export function eventWith(changes: Partial<APIGatewayProxyEvent> = {}): APIGatewayProxyEvent {
  return { ...sampleEvent('create-plant'), ...changes };
}

export function sampleEvent(name: string): APIGatewayProxyEvent {
  return JSON.parse(readFileSync(join(projectRoot, 'events', `${name}.json`), 'utf8'));
}

/** A context with so much time left; what the function does not read is not there. */
export function contextWith(remainingMs = 10_000): Context {
  const end = Date.now() + remainingMs;
  return {
    awsRequestId: 'the-request-id',
    getRemainingTimeInMillis: () => end - Date.now(),
  } as Context;
}
