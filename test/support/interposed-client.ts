import { DynamoDBClient, type ServiceInputTypes, type ServiceOutputTypes } from '@aws-sdk/client-dynamodb';
import { LOCAL_CREDENTIALS } from '../../local/dynamodb.ts';
import { LOCAL_REGION } from '../../local/template.ts';
import type { Engine } from './engine.ts';

/** Stands between a client and its engine: may change what is sent, answer it, or do something before and after. */
export type Between = (
  command: string,
  input: ServiceInputTypes,
  send: (input: ServiceInputTypes) => Promise<ServiceOutputTypes>,
) => Promise<ServiceOutputTypes>;

/** A client of the engine whose requests pass `between`; `command` is the request's name, such as `PutItem`. */
export function interposedClient({ endpoint }: Engine, between: Between): DynamoDBClient {
  const client = new DynamoDBClient({ endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS });
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const send = async (input: ServiceInputTypes) => (await next({ ...args, input })).output;
        return { response: {}, output: await between(commandName.replace(/Command$/, ''), args.input, send) };
      },
    { step: 'initialize' },
  );
  return client;
}

/** The engines answer every read consistently; DynamoDB may answer one that is not asked to be with what was before. */
export const staleUnlessConsistent: Between = async (command, input, send) => {
  const reads = 'RequestItems' in input ? Object.values(input.RequestItems ?? {}) : [input];
  const isRead = command === 'Scan' || command === 'BatchGetItem';
  if (isRead && !reads.every((read) => 'ConsistentRead' in read && read.ConsistentRead)) return { $metadata: {} };
  return await send(input);
};
