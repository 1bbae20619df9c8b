import { setTimeout as sleep } from 'node:timers/promises';
import type { GetItemInput, PutItemInput } from '@aws-sdk/client-dynamodb';
import { type ErrorNumber, PlantStoreError } from '../errors.ts';
import { ATTEMPT_SILENCE_MS } from '../time-limits.ts';
import { Connection } from './connection.ts';

const MAX_ATTEMPTS = 3;
/** Maximum wait before the second attempt. It doubles with every further attempt. */
const BACKOFF_MS = 50;
/** Longer than BACKOFF_MS, because DynamoDB refills a table's throughput once per second. */
const THROTTLING_BACKOFF_MS = 500;

/**
 * The errors that need a longer wait: those of DynamoDB that AWS's SDKs treat as throttling, and the conflict of a
 * global table.
 */
const THROTTLING_ERRORS = [
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ReplicatedWriteConflictException',
];

/** "Constraints in Amazon DynamoDB". Attribute names count too. */
const TOO_LARGE = 'What the request stores is too large; it must fit into an item of 400 KB.';

/** An item as it is read. The service stores only strings and numbers. */
export type StoredItem = Partial<Record<string, { S?: string; N?: string }>>;

/** A DynamoDB client: repeats what failed, and ends in time. */
export class DynamoDb {
  readonly #connection: Connection;

  /** @param silenceMs An attempt fails if no headers, or later no data, arrive for this time. */
  constructor(silenceMs = ATTEMPT_SILENCE_MS) {
    this.#connection = new Connection(silenceMs);
  }

  /**
   * Calls an action, in up to three attempts. Returns the item that `GetItem` has read, if there is one.
   *
   * @param timeoutMs the time for all attempts, in milliseconds
   * @throws 413 if an item is too large; 429 if DynamoDB throttles; 503 for no response, a 5xx, or a response that is
   * not DynamoDB's; 504 if the time is up; a ConditionFailedError; a DynamoDbError for any other error of DynamoDB.
   */
  async call(
    action: 'GetItem' | 'PutItem',
    input: GetItemInput | PutItemInput,
    timeoutMs: number,
  ): Promise<{ Item?: StoredItem }> {
    const body = JSON.stringify({ ...input, ReturnConsumedCapacity: 'TOTAL' });
    const signal = AbortSignal.timeout(Math.max(0, timeoutMs));
    let previous: Error | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return parseResponse(await this.#connection.send(action, body, signal));
      } catch (thrown) {
        const failure = thrown as Error;
        if (signal.aborted)
          throw serviceError(504, 'The database took too long to respond. Try again.', previous ?? failure);
        const throttled = THROTTLING_ERRORS.includes(failure.name);
        if (failure instanceof DynamoDbError && failure.status < 500 && !throttled)
          throw isTooLarge(failure) ? new PlantStoreError(413, TOO_LARGE) : failure;
        if (attempt === MAX_ATTEMPTS) {
          if (!throttled) throw serviceError(503, 'The database failed or did not respond. Try again.', failure);
          throw serviceError(429, 'The database is throttled. Try again a little later.', failure);
        }
        previous = failure;
        const maxWait = (throttled ? THROTTLING_BACKOFF_MS : BACKOFF_MS) * 2 ** (attempt - 1);
        await sleep(Math.random() * maxWait, undefined, { signal }).catch(() => {});
      }
    }
  }
}

/** DynamoDB reports a too large item as a ValidationException; only its message differs. */
function isTooLarge({ name, message }: DynamoDbError): boolean {
  return name === 'ValidationException' && /item size/i.test(message);
}

function serviceError(error: ErrorNumber, message: string, cause: Error): PlantStoreError {
  return new PlantStoreError(error, message, { cause });
}

/**
 * Returns the output of a response.
 *
 * @throws a DynamoDbError, or another error if DynamoDB did not send the response
 */
function parseResponse({ status, text }: { status: number; text: string }): { Item?: StoredItem } {
  const { ConsumedCapacity, __type, message, Message = message, ...output } = parseObject(text);
  // Without the anchor, a long text without "#" would take seconds.
  const name = String(__type).replace(/^.*#/, '');
  // Only DynamoDB returns ConsumedCapacity. A proxy's empty 200 would otherwise mean "stored" or "no such token".
  if (status === 200 && ConsumedCapacity) return output;
  if (name === 'ConditionalCheckFailedException') throw new ConditionFailedError(String(Message), output.Item);
  if (status >= 400 && __type) throw new DynamoDbError(name, String(Message), status);
  throw new Error(`The response with status ${status} and ${text.length} characters is not DynamoDB's.`);
}

interface DynamoDbOutput {
  ConsumedCapacity?: unknown;
  Item?: StoredItem;
  __type?: unknown;
  message?: unknown;
  Message?: unknown;
}

/** Parses a response. Returns an empty object if it is not JSON. Never throws, because the error would quote it. */
function parseObject(text: string): DynamoDbOutput {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
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
  /** The stored item, if the write has `ReturnValuesOnConditionCheckFailure: 'ALL_OLD'`. */
  readonly item: StoredItem | undefined;

  constructor(message: string, item: StoredItem | undefined) {
    super('ConditionalCheckFailedException', message, 400);
    this.item = item;
  }
}
