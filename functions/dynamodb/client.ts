import { setTimeout as sleep } from 'node:timers/promises';
import type { AttributeValue, GetItemInput, GetItemOutput, PutItemInput } from '@aws-sdk/client-dynamodb';
import { type ErrorNumber, PlantStoreError } from '../errors.ts';
import { Connection, type DatabaseResponse } from './connection.ts';

const MAX_ATTEMPTS = 3;
/** Maximum wait before the second attempt. It doubles with every further attempt. */
const BACKOFF_MS = 50;
/** Longer than BACKOFF_MS, because DynamoDB refills a table's throughput once per second. */
const THROTTLING_BACKOFF_MS = 500;

/** The errors after which THROTTLING_BACKOFF_MS applies. */
const THROTTLING_ERRORS = ['ThrottlingException', 'ProvisionedThroughputExceededException', 'RequestLimitExceeded'];

export type StoredItem = Record<string, AttributeValue>;

type Action = 'GetItem' | 'PutItem';

const wait = (ms: number, signal: AbortSignal): Promise<unknown> => sleep(ms, undefined, { signal });

/** Sends requests to DynamoDB. Repeats a failed request at most twice, and only until its time is up. */
export class DynamoDb {
  readonly #connection: Pick<Connection, 'send'>;
  readonly #wait: typeof wait;

  constructor(connection: Pick<Connection, 'send'> = new Connection(), waitForNextAttempt = wait) {
    this.#connection = connection;
    this.#wait = waitForNextAttempt;
  }

  /**
   * Calls an action, in up to three attempts. For `GetItem`, returns the item, if there is one. For `PutItem`, returns
   * undefined if the item is stored, else the item in the way.
   *
   * @param input the action's; a write with a condition has `ReturnValuesOnConditionCheckFailure: 'ALL_OLD'`
   * @throws 413 if an item is too large; 429 if DynamoDB throttles; 503 for no response, a 5xx, or a response that is
   * not DynamoDB's; 504 if the time is up; a DynamoDbError for any other error of DynamoDB.
   */
  async call(action: Action, input: GetItemInput | PutItemInput, key: StoredItem, timeoutMs: number) {
    const body = JSON.stringify({ ...input, ReturnConsumedCapacity: 'TOTAL' });
    // `timeout` throws for a fraction of a millisecond.
    const signal = AbortSignal.timeout(Math.max(0, Math.floor(timeoutMs)));
    let previous: Error | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return parseResponse(await this.#connection.send(action, body, attempt > 1, signal), input.TableName, key);
      } catch (thrown) {
        const failure = thrown as Error;
        if (signal.aborted)
          throw serviceError(504, 'The database took too long to respond. Try again.', previous ?? failure);
        if (attempt === MAX_ATTEMPTS || !isRetryable(failure)) throw toServiceError(action, failure);
        previous = failure;
        const maxWait = (isThrottling(failure) ? THROTTLING_BACKOFF_MS : BACKOFF_MS) * 2 ** (attempt - 1);
        await this.#wait(Math.random() * maxWait, signal).catch(() => {});
      }
    }
  }
}

const isThrottling = ({ name }: Error) => THROTTLING_ERRORS.includes(name);

const isRetryable = (failure: Error) =>
  !(failure instanceof DynamoDbError && failure.status < 500) || isThrottling(failure);

function toServiceError(action: Action, failure: Error): Error {
  if (isThrottling(failure)) return serviceError(429, 'The database is throttled. Try again a little later.', failure);
  if (isRetryable(failure)) return serviceError(503, 'The database failed or did not respond. Try again.', failure);
  // Only the message tells this ValidationException from others. An item can have 400 KB ("Constraints in Amazon
  // DynamoDB"), with the date of its creation and the token's name.
  const isTooLarge = action === 'PutItem' && /item size/i.test(failure.message);
  return isTooLarge ? new PlantStoreError(413, 'The plant is too large; it must have at most 399 KB.') : failure;
}

function serviceError(error: ErrorNumber, message: string, cause: Error): PlantStoreError {
  return new PlantStoreError(error, message, { cause });
}

/**
 * Returns the item in a response, if there is one. Throws if the response is an error, is not DynamoDB's, or is about
 * another table or key. The response of a successful write has no key, so only its table is compared.
 */
function parseResponse({ status, text, socket }: DatabaseResponse, table: string | undefined, key: StoredItem) {
  const { ConsumedCapacity, Item, __type, message, Message = message } = parseObject(text);
  const name = String(__type).split('#').at(-1) ?? '';
  const conditionFailed = name === 'ConditionalCheckFailedException';
  if (status >= 400 && __type && !conditionFailed) throw new DynamoDbError(name, String(Message), status);
  // Only DynamoDB returns the table's name as in the request ("ConsumedCapacity"). A proxy's empty 200, or the response
  // to a request for the other table, must not mean "stored" or "no such token".
  const succeeded = status === 200 && ConsumedCapacity?.TableName === table;
  if (Item === undefined ? succeeded : (succeeded || conditionFailed) && hasKey(Item, key)) return Item;
  // On this connection, the next response could also be that to another request.
  socket.destroy();
  throw new Error(`The response with status ${status} and ${text.length} characters is not DynamoDB's.`);
}

/** Compares the key of an item. Both must be in DynamoDB's form of a number: `1`, not `1.0`. */
function hasKey(item: StoredItem, key: StoredItem): boolean {
  return Object.keys(key).every((name) => JSON.stringify(Object(item)[name]) === JSON.stringify(key[name]));
}

/** Parses a response. Returns an empty object if it is not JSON. Never throws, because the error would quote it. */
function parseObject(text: string): GetItemOutput & Partial<Record<'__type' | 'message' | 'Message', unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

class DynamoDbError extends Error {
  readonly status: number;

  constructor(name: string, message: string, status: number) {
    super(message);
    this.name = name;
    this.status = status;
  }
}
