import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';

/** Reads an event of API Gateway. Throws a sentence if there is none. */
export function readEvent(file: string): APIGatewayProxyEvent {
  let event: APIGatewayProxyEvent | null;
  try {
    event = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`The event ${file} cannot be read: ${(error as Error).message}`);
  }
  if (event?.httpMethod && event.resource) return event;
  throw new Error(`The event ${file} must be a REST proxy event, with httpMethod and resource.`);
}

/** The files of the events that an event needs before it, in their order: `before.json` of its folder names the last. */
export function filesBefore(file: string): string[] {
  const list = join(dirname(file), 'before.json');
  const names: Record<string, string> = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : {};
  const name = names[basename(file, '.json')];
  if (name === undefined) return [];
  const before = join(dirname(file), `${name}.json`);
  return [...filesBefore(before), before];
}
