import { setTimeout as sleep } from 'node:timers/promises';
import { type ErrorNumber, PlantStoreError } from '../errors.ts';
import { ATTEMPT_SILENCE_MS } from '../time-limits.ts';
import type { Action, Input, Output } from './actions.ts';
import { Connection } from './connection.ts';
import { DynamoDbError, parseResponse } from './response.ts';

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

/** A DynamoDB client: repeats what failed, and ends in time. */
export class DynamoDb {
  readonly #connection: Connection;

  /** @param silenceMs An attempt fails if no headers, or later no data, arrive for this time. */
  constructor(silenceMs = ATTEMPT_SILENCE_MS) {
    this.#connection = new Connection(silenceMs);
  }

  /**
   * Calls an action, in up to three attempts.
   *
   * @example
   * const read = { TableName: tableName, Key: toItem({ id }), ConsistentRead: true };
   * const { Item: item } = await dynamoDb.call('GetItem', read, databaseTimeoutMs(context));
   *
   * @param action DynamoDB's name of it, such as `GetItem`
   * @param timeoutMs the time for all attempts, in milliseconds
   * @throws 413 if an item is too large; 429 if DynamoDB throttles; 503 for no response, a 5xx, or a response that is
   * not DynamoDB's; 504 if the time is up; a ConditionFailedError; a DynamoDbError for any other error of DynamoDB.
   */
  async call<Name extends Action>(action: Name, input: Input<Name>, timeoutMs: number): Promise<Output<Name>> {
    const body = JSON.stringify({ ...input, ReturnConsumedCapacity: 'TOTAL' });
    const signal = AbortSignal.timeout(Math.max(0, timeoutMs));
    let previous: Error | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return parseResponse(await this.#connection.send(action, body, signal)) as Output<Name>;
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
