import { type ConsumedCapacity, DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { PlantStoreError } from './errors.ts';

/** DynamoDB answers in single-digit ms; what is silent for a second will stay so. */
const SILENCE_MS = 1000;
const MAX_ATTEMPTS = 3;
/** Left of the function's timeout when the store has used up its share: time to answer and to log. */
const ANSWER_MS = 4000;

/** What of Lambda's context a call to the store looks at. */
export interface RemainingTime {
  getRemainingTimeInMillis(): number;
}

/** The time that init spends on a store that may be down: one attempt's. */
export function primingTime(): RemainingTime {
  return { getRemainingTimeInMillis: () => ANSWER_MS + SILENCE_MS };
}

/** A client whose every wait ends; by default a hang is none of the SDK's errors. */
export function connectToDynamoDb(): DynamoDBClient {
  return new DynamoDBClient({
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: SILENCE_MS,
      requestTimeout: SILENCE_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENCE_MS,
    },
  });
}

/**
 * One call to the store, retries included, that ends while there is still time to answer. The call
 * must ask for its consumed capacity, by which an answer is known to be DynamoDB's.
 * Throws 429 where the store throttles, 503 where it does not answer or not as DynamoDB does, 504
 * where time is up; what the store refuses (an unmet condition, say) as the SDK threw it.
 */
export async function callStore<Output extends { ConsumedCapacity?: ConsumedCapacity | undefined }>(
  time: RemainingTime,
  call: (options: { abortSignal: AbortSignal }) => Promise<Output>,
): Promise<Output> {
  const abortSignal = AbortSignal.timeout(Math.max(0, time.getRemainingTimeInMillis() - ANSWER_MS));
  // The SDK does not look at the signal while it waits for its next attempt.
  const timeUp = new Promise<never>((_, reject) => {
    abortSignal.addEventListener('abort', () => reject(abortSignal.reason));
  });
  const whole = async () => {
    const output = await call({ abortSignal });
    // An empty 200 would read as "stored", or as "no such token".
    if (!output.ConsumedCapacity) throw new SyntaxError('The answer is not one of DynamoDB.');
    return output;
  };
  const wholeAtLast = whole().catch((error) => {
    if (isGarbledSuccess(error)) return whole();
    throw error;
  });
  try {
    return await Promise.race([wholeAtLast, timeUp]);
  } catch (error) {
    throw abortSignal.aborted ? outOfTime(error) : storeFailure(error);
  }
}

/** Whether it is a 200 that breaks off or is not DynamoDB's; the SDK retries only failures. */
function isGarbledSuccess(error: unknown): boolean {
  if (!(error instanceof SyntaxError)) return false;
  const { $metadata }: SyntaxError & { $metadata?: { httpStatusCode?: number } } = error;
  return ($metadata?.httpStatusCode ?? 200) === 200;
}

function outOfTime(cause: unknown): PlantStoreError {
  return new PlantStoreError(504, 'The store took too long to answer. Repeating the request is safe.', { cause });
}

const THROTTLES = ['ThrottlingException', 'ProvisionedThroughputExceededException', 'RequestLimitExceeded'];

function storeFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (THROTTLES.includes(error.name)) {
    return new PlantStoreError(429, 'The store is throttled. Repeating the request a little later is safe.', {
      cause: error,
    });
  }
  const refused = error instanceof DynamoDBServiceException && error.$fault === 'client';
  if (refused || error.name === 'CredentialsProviderError') return error;
  return new PlantStoreError(503, 'The store did not answer. Repeating the request is safe.', { cause: error });
}
