import { DynamoDb, type Input } from '../../functions/shared/dynamodb/dynamodb.ts';

/* Replaces @aws-sdk/client-dynamodb in a peer's bundle by the function's own client, which is warmed up at init. */

const dynamoDb = new DynamoDb();
const time = { getRemainingTimeInMillis: () => 10_000 };
const TableName = process.env['ACCESS_TOKENS_TABLE_NAME'] ?? '';
await dynamoDb.send('GetItem', { TableName, Key: { digest: { S: 'none' } } }, time);

export class DynamoDBClient {
  send({ action, input }: GetItemCommand | PutItemCommand): Promise<unknown> {
    return dynamoDb.send(action, input, time);
  }
}

export class GetItemCommand {
  readonly action = 'GetItem';
  readonly input: Input<'GetItem'>;

  constructor(input: Input<'GetItem'>) {
    this.input = input;
  }
}

export class PutItemCommand {
  readonly action = 'PutItem';
  readonly input: Input<'PutItem'>;

  constructor(input: Input<'PutItem'>) {
    this.input = input;
  }
}
