import { parseObject } from '../json/parse-object.ts';
import type { Item } from './attributes.ts';

export interface HttpResponse {
  status: number;
  text: string;
}

/**
 * Returns the output of a response.
 *
 * @throws a DynamoDbError, or another error if DynamoDB did not send the response
 */
export function parseResponse({ status, text }: HttpResponse): object {
  const { ConsumedCapacity, __type, message, Message = message, ...others } = parseObject(text);
  const name = String(__type).replace(/.*#/, '');
  // Only DynamoDB returns ConsumedCapacity. A proxy's empty 200 would otherwise mean "stored" or "no such token".
  if (status === 200 && ConsumedCapacity) return { ConsumedCapacity, ...others };
  if (name === 'ConditionalCheckFailedException')
    throw new ConditionFailedError(String(Message), others['Item'] as Item);
  if (status >= 400 && __type) throw new DynamoDbError(name, String(Message), status);
  throw new Error(`The response with status ${status} and ${text.length} characters is not DynamoDB's.`);
}

/** An error response of DynamoDB. `name` is DynamoDB's, for example `ValidationException`. */
export class DynamoDbError extends Error {
  readonly status: number;

  constructor(name: string, message: string, status: number) {
    super(message);
    this.name = name;
    this.status = status;
  }
}

/** The error of a write whose condition is not met; nothing is changed. */
export class ConditionFailedError extends DynamoDbError {
  /** The stored item, if there is one and the write has `ReturnValuesOnConditionCheckFailure: 'ALL_OLD'`. */
  readonly item: Item | undefined;

  constructor(message: string, item: Item | undefined) {
    super('ConditionalCheckFailedException', message, 400);
    this.item = item;
  }
}
