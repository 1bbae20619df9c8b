import { DynamoDb, type Input } from '../../functions/shared/dynamodb/dynamodb.ts';

/* Replaces @aws-sdk/client-dynamodb in a peer's bundle by the function's own client, which is warmed up at init. */

const dynamoDb = new DynamoDb();
const time = { getRemainingTimeInMillis: () => 10_000 };
const TableName = process.env['ACCESS_TOKENS_TABLE_NAME'] ?? '';
await dynamoDb.send('GetItem', { TableName, Key: { digest: { S: 'none' } } }, time);

export class DynamoDBClient {
  send(call: () => Promise<unknown>): Promise<unknown> {
    return call();
  }
}

/** Returns a function in place of a command, because a constructor can return any object. */
function command<Action extends 'GetItem' | 'PutItem'>(action: Action) {
  return (input: Input<Action>) => () => dynamoDb.send(action, input, time);
}

export const GetItemCommand = command('GetItem');
export const PutItemCommand = command('PutItem');
