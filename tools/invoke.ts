import { Console } from 'node:console';
import { readFile } from 'node:fs/promises';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { readOperations } from '../model/contract.ts';
import { projectRoot } from './project-root.ts';
import { command } from './shared/command.ts';
import { printable } from './shared/printable.ts';

const USAGE = `Usage: npm run invoke -- EVENT

Invokes the function of an event's route, without a server. EVENT is a JSON file with an API Gateway event, such as
events/create-plant.json, or - for standard input. Uses the tables of this folder's local run, those at
AWS_ENDPOINT_URL_DYNAMODB, or empty ones. Prints the response to stdout. Prints the function's log, and which tables
it uses, to stderr. The exit status is 0 for a 200, and 1 otherwise.`;

await command({ usage: USAGE, args: ['EVENT'] }, async (_, [file]) => {
  enableCompileCache(join(projectRoot, 'node_modules/.cache/node'));
  const event = await readEvent(String(file));
  const { createTables, openDynamoDb } = await import('./local/dynamodb.ts');
  const { readEnvFile, useLocalEnvironment } = await import('./local/environment.ts');
  const { findLocalRun } = await import('./local/local-run.ts');
  const { importHandler, invoke } = await import('./local/routes.ts');
  // The functions print to stderr.
  globalThis.console = new Console(process.stderr);
  readEnvFile();
  const localRun = await findLocalRun();
  const isEmpty = !localRun && !process.env['AWS_ENDPOINT_URL_DYNAMODB'];
  const { endpoint, close } = localRun ? { ...localRun, close: async () => {} } : await openDynamoDb();
  const tables = isEmpty ? 'empty tables' : `the tables of ${localRun ? 'the local run' : endpoint}`;
  console.error(`Uses ${tables}.`);
  try {
    useLocalEnvironment(endpoint);
    await createTables(endpoint);
    const { httpMethod, resource } = event;
    const operation = readOperations().find(({ method, path }) => method === httpMethod && path === resource);
    if (!operation) throw new Error(`openapi.yaml has no operation ${httpMethod} ${resource}.`);
    const route = { ...operation, handler: importHandler(operation) };
    const response = (await invoke(route, event)) as { statusCode?: unknown } | null | undefined;
    process.stdout.write(printable(`${JSON.stringify(response, null, 2)}\n`));
    if (response?.statusCode !== 200) process.exitCode = 1;
  } finally {
    await close();
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
