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

/** The calls whose time is up: an attempt after that would write behind the caller's back. */
const givenUp = new WeakSet<object>();

/** A client whose every wait ends; by default a hang is none of the SDK's errors. */
export function connectToDynamoDb(): DynamoDBClient {
  const client = new DynamoDBClient({
    maxAttempts: MAX_ATTEMPTS,
    // The SDK's own defaults; stated, they are not looked for in files that Lambda does not have.
    retryMode: 'standard',
    defaultsMode: 'legacy',
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    endpointDiscoveryEnabled: false,
    userAgentAppId: () => Promise.resolve(undefined),
    // Building it anew for each call is a tenth of a call's CPU time; an abort signal would forbid this.
    cacheMiddleware: true,
    requestHandler: {
      connectionTimeout: SILENCE_MS,
      requestTimeout: SILENCE_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENCE_MS,
    },
  });
  // It copies each input and output for a log that is off.
  client.middlewareStack.remove('loggerMiddleware');
  client.middlewareStack.add(
    (next) => (args) => {
      if (givenUp.has(args.input)) throw new Error('The time for this call is up.');
      return next(args);
    },
    // Behind the SDK's retries, so before each attempt.
    { step: 'finalizeRequest', priority: 'low', name: 'giveUpInTime' },
  );
  return client;
}

/** An answer by which a call is known to have reached DynamoDB. */
interface StoreOutput {
  ConsumedCapacity?: ConsumedCapacity | undefined;
}

/**
 * One call to the store, retries included, that ends while there is still time to answer. Its input
 * must ask for the consumed capacity, by which an answer is known to be DynamoDB's.
 * Throws 429 where the store throttles, 503 where it does not answer or not as DynamoDB does, 504
 * where time is up; what the store refuses (an unmet condition, say) as the SDK threw it.
 */
export async function callStore<Output extends StoreOutput>(
  client: DynamoDBClient,
  input: object,
  time: RemainingTime,
  send: () => Promise<Output>,
): Promise<Output> {
  const { promise: timeUp, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => {
      givenUp.add(input);
      reject(new PlantStoreError(504, 'The store took too long to answer. Repeating the request is safe.'));
      // What still drips in would keep its connection; the next call opens one.
      client.destroy();
    },
    Math.max(0, time.getRemainingTimeInMillis() - ANSWER_MS),
  );
  const whole = async () => {
    const output = await send();
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
    throw error instanceof PlantStoreError ? error : storeFailure(error);
  } finally {
    clearTimeout(timer);
  }
}

/** Pays at init what the first call of a kind costs, its serialisation and its signing. Sends nothing. */
export async function rehearse(input: object, send: () => Promise<unknown>): Promise<void> {
  givenUp.add(input);
  await send().catch(() => {});
}

/** Whether it is a 200 that breaks off or is not DynamoDB's; the SDK retries only failures. */
function isGarbledSuccess(error: unknown): boolean {
  if (!(error instanceof SyntaxError)) return false;
  const { $metadata }: SyntaxError & { $metadata?: { httpStatusCode?: number } } = error;
  return ($metadata?.httpStatusCode ?? 200) === 200;
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
