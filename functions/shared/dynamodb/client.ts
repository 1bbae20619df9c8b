import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'aws-lambda';
import { type ErrorNumber, PlantStoreError } from '../errors.ts';
import { RESERVED_MS } from '../time-limits.ts';
import type { Action, Input, Output } from './actions.ts';
import { Connection } from './connection.ts';
import { DynamoDbError, parseResponse } from './response.ts';

const MAX_ATTEMPTS = 3;
/** Maximum wait before the second attempt. It doubles with every further attempt. */
const BACKOFF_MS = 50;
/** Longer than BACKOFF_MS, because DynamoDB refills a table's throughput once per second. */
const THROTTLING_BACKOFF_MS = 500;

/** Lambda's context, which says how much time the invocation has left; or, in init, a number of milliseconds. */
export type TimeLimit = Pick<Context, 'getRemainingTimeInMillis'> | number;

/** The errors that need a longer wait: those that AWS's SDKs treat as throttling, and that of a global table's conflict. */
const THROTTLING_ERRORS = [
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ReplicatedWriteConflictException',
];

/** A DynamoDB client: repeats what failed, and ends in time. */
export class DynamoDb {
  readonly #connection = new Connection();

  /**
   * Sends an action, in up to three attempts, within the time limit.
   *
   * @param action DynamoDB's name of it, such as `GetItem`
   * @throws 429 if DynamoDB throttles; 503 for no response, a 5xx, or a response that is not DynamoDB's; 504 if the
   * time is up; a DynamoDbError for any other error of DynamoDB, for example a condition that is not met.
   */
  async send<Name extends Action>(action: Name, input: Input<Name>, limit: TimeLimit): Promise<Output<Name>> {
    const body = JSON.stringify({ ...input, ReturnConsumedCapacity: 'TOTAL' });
    const milliseconds = typeof limit === 'number' ? limit : limit.getRemainingTimeInMillis() - RESERVED_MS;
    const signal = AbortSignal.timeout(Math.max(0, milliseconds));
    let previous: Error | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return parseResponse(await this.#connection.send(action, body, signal)) as Output<Name>;
      } catch (thrown) {
        const failure = thrown as Error;
        if (signal.aborted) throw retryable(504, 'The database took too long to respond.', previous ?? failure);
        const throttled = THROTTLING_ERRORS.includes(failure.name);
        if (failure instanceof DynamoDbError && failure.status < 500 && !throttled) throw failure;
        if (attempt === MAX_ATTEMPTS) {
          if (!throttled) throw retryable(503, 'The database failed or did not respond.', failure);
          throw retryable(429, 'The database is throttled.', failure, 'the request a little later');
        }
        previous = failure;
        const maxWait = (throttled ? THROTTLING_BACKOFF_MS : BACKOFF_MS) * 2 ** (attempt - 1);
        await sleep(Math.random() * maxWait, undefined, { signal }).catch(() => {});
      }
    }
  }
}

function retryable(error: ErrorNumber, problem: string, cause: Error, what = 'the request'): PlantStoreError {
  return new PlantStoreError(error, `${problem} Repeating ${what} is safe.`, { cause });
}
