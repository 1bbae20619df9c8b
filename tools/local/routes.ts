import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { FUNCTION_TIMEOUT_MS } from '../../functions/time-limits.ts';
import { type Operation, readOperations } from '../../model/contract.ts';
import { projectRoot } from '../project-root.ts';
import { LoadError, toLoadError } from './load-error.ts';

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<unknown>;

/** An operation, and its function's handler. That is rejected with a LoadError if the function cannot be loaded. */
export type Route = Operation & { handler: Promise<Handler> };

/** Imports the functions of all operations of the contract. */
export function importRoutes(): Route[] {
  return readOperations().map((operation) => {
    const handler = importHandler(operation);
    // Otherwise a function that cannot be loaded would be an unhandled rejection until its first request.
    handler.catch(() => {});
    return { ...operation, handler };
  });
}

/**
 * Imports the handler of an operation's function.
 *
 * @throws LoadError
 */
export async function importHandler({ folder }: Operation): Promise<Handler> {
  const file = `${folder}/index.ts`;
  if (!existsSync(join(projectRoot, file))) {
    throw new LoadError(`${file} is missing: docs/changing.md shows how to write it.`);
  }
  // A variable, because Vite imports all files that match a template.
  const path = `../../${file}`;
  const { handler }: { handler?: Handler } = await import(path).catch((thrown) => {
    throw toLoadError(thrown);
  });
  if (typeof handler === 'function') return handler;
  throw new LoadError(`${file} must export a function named handler.`);
}

/**
 * Invokes a handler with the members of Lambda's context that functions use. The remaining time is always that of the
 * timeout.
 */
export async function invoke({ handler, operationId }: Route, event: APIGatewayProxyEvent): Promise<unknown> {
  const { requestId: awsRequestId } = event.requestContext;
  const context = { awsRequestId, functionName: operationId, functionVersion: '$LATEST' };
  return (await handler)(event, { ...context, getRemainingTimeInMillis: () => FUNCTION_TIMEOUT_MS } as Context);
}
