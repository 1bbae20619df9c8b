import { Console } from 'node:console';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { command } from './command.ts';
import { createTables, findLocalRun, isolateFromAws, openDynamoDb } from './local/dynamodb.ts';
import { escapeConsole } from './local/log.ts';
import { localContext } from './local/proxy-integration.ts';
import { printable } from './printable.ts';

const USAGE = `Usage: npm run invoke -- EVENT

Invokes the function with an event, without a server. EVENT is a JSON file with an API Gateway event, such as
events/create-plant.json, or - for standard input. Uses the tables of the local run, those at
AWS_ENDPOINT_URL_DYNAMODB, or empty ones. Prints the response to stdout. Prints the function's log, and which tables
it uses, to stderr. The exit status is 0 for a 200, and 1 otherwise.`;

await command({ usage: USAGE, arg: 'EVENT' }, async (_, file) => {
  const event = await readEvent(file);
  // The function logs to stderr, so that stdout has only the response.
  globalThis.console = new Console(process.stderr);
  escapeConsole();
  if (existsSync('.env')) process.loadEnvFile();
  const localRun = await findLocalRun();
  const { endpoint, close } = localRun ? { endpoint: localRun, close() {} } : await openDynamoDb();
  if (localRun === undefined) console.error(`Uses empty tables at ${endpoint}.`);
  try {
    isolateFromAws(endpoint);
    await createTables(endpoint);
    const { handler } = await import('../functions/index.ts');
    const response = await handler(event, localContext);
    process.stdout.write(printable(`${JSON.stringify(response, null, 2)}\n`));
    if (response.statusCode !== 200) process.exitCode = 1;
  } finally {
    close();
  }
});

/** Reads an API Gateway event from a JSON file, or from standard input for `-`. Throws if it is another event. */
async function readEvent(file: string): Promise<APIGatewayProxyEvent> {
  let event: APIGatewayProxyEvent | null;
  try {
    event = JSON.parse(file === '-' ? await text(process.stdin) : await readFile(file, 'utf8'));
  } catch (thrown) {
    throw new Error(`The event ${file} cannot be read: ${(thrown as Error).message}`);
  }
  if (!(event?.httpMethod && event.resource && event.requestContext)) {
    throw new Error(`The event ${file} must be a REST proxy event, with httpMethod, resource and requestContext.`);
  }
  if (typeof event.body === 'object' && event.body !== null) {
    throw new Error(`The body of the event ${file} was an object; it must be a string with JSON, or null.`);
  }
  return event;
}
