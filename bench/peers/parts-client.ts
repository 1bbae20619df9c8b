import { DynamoDb, type Input } from '../../functions/shared/dynamodb/dynamodb.ts';

/* Replaces @aws-sdk/client-dynamodb by the function's own client in a bundle of a peer. */

export class DynamoDBClient {
  readonly #dynamoDb = new DynamoDb();

  send({ action, input }: GetItemCommand | PutItemCommand): Promise<unknown> {
    return this.#dynamoDb.send(action, input, { getRemainingTimeInMillis: () => 10_000 });
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

// biome-ignore lint/complexity/noStaticOnlyClass: a peer only asks whether an error is an instance of it.
export class ConditionalCheckFailedException {
  static [Symbol.hasInstance](error: Error): boolean {
    return error.name === 'ConditionalCheckFailedException';
  }
}
