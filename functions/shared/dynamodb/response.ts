import { parseObject } from '../parse-object.ts';

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
  // Only DynamoDB returns ConsumedCapacity. A proxy's empty 200 would otherwise mean "stored" or "no such token".
  if (status === 200 && ConsumedCapacity) return { ConsumedCapacity, ...others };
  if (status >= 400 && __type) throw new DynamoDbError(String(__type).replace(/.*#/, ''), String(Message), status);
  throw new Error(`The response with status ${status} and ${text.length} characters is not DynamoDB's.`);
}

/** An error response of DynamoDB. `name` is DynamoDB's, for example `ConditionalCheckFailedException`. */
export class DynamoDbError extends Error {
  readonly status: number;

  constructor(name: string, message: string, status: number) {
    super(message);
    this.name = name;
    this.status = status;
  }
}
