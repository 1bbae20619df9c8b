import {
  type $Command,
  type ConsumedCapacity,
  DynamoDBClient,
  type DynamoDBClientResolvedConfig,
  DynamoDBServiceException,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from '@aws-sdk/client-dynamodb';
import { PlantStoreError } from './errors.ts';

/** DynamoDB answers in single-digit ms; what is silent for a second will stay so. */
const SILENCE_MS = 1000;
const MAX_ATTEMPTS = 3;
/** Left of the function's timeout when the database has used up its share: time to answer and to log. */
const ANSWER_MS = 4000;

/** What of Lambda's context a call to the database looks at. */
export interface RemainingTime {
  getRemainingTimeInMillis(): number;
}

/** The time that init spends on a database that may be down: one attempt's. */
export function primingTime(): RemainingTime {
  return { getRemainingTimeInMillis: () => ANSWER_MS + SILENCE_MS };
}

/** A command of one item, a Query or a Scan, which tell the capacity that they consumed. */
type Command<Input extends ServiceInputTypes, Output extends ItemOutput> = $Command<
  Input,
  Output,
  DynamoDBClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes
>;
type ItemOutput = ServiceOutputTypes & { ConsumedCapacity?: ConsumedCapacity | undefined };

/** DynamoDB, by a client whose every wait ends; by default a hang is none of the SDK's errors. */
export class Database {
  readonly #client = new DynamoDBClient({
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
  /** The inputs of the calls that are over: an attempt after that would write behind the caller's back. */
  readonly #over = new WeakSet<object>();

  constructor() {
    const { middlewareStack } = this.#client;
    // It copies each input and output for a log that is off.
    middlewareStack.remove('loggerMiddleware');
    middlewareStack.add(
      (next) => (args) => {
        if (this.#over.has(args.input)) throw new Error('The time for this call is up.');
        return next(args);
      },
      // Behind the SDK's retries, so before each attempt.
      { step: 'finalizeRequest', priority: 'low', name: 'giveUpInTime' },
    );
  }

  /**
   * One call, retries included, that ends while there is still time to answer.
   * Throws 429 where the database throttles, 503 where it does not answer or not as DynamoDB does, 504
   * where time is up; what the database refuses (an unmet condition, say) as the SDK threw it.
   */
  async send<Input extends ServiceInputTypes, Output extends ItemOutput>(
    command: Command<Input, Output>,
    time: RemainingTime,
  ): Promise<Output> {
    // By its capacity an answer is known to be DynamoDB's.
    Object.assign(command.input, { ReturnConsumedCapacity: 'TOTAL' });
    const { promise: timeUp, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => {
        this.#over.add(command.input);
        reject(new PlantStoreError(504, 'The database took too long to answer. Repeating the request is safe.'));
        // What still drips in would keep its connection; the next call opens one.
        this.#client.destroy();
      },
      Math.max(0, time.getRemainingTimeInMillis() - ANSWER_MS),
    );
    const whole = async () => {
      const output = await this.#client.send(command);
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
      throw error instanceof PlantStoreError ? error : databaseFailure(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Pays at init what the first call of a kind costs, its serialisation and its signing. Sends nothing, never fails. */
  async rehearse<Input extends ServiceInputTypes, Output extends ItemOutput>(
    command: Command<Input, Output>,
  ): Promise<void> {
    this.#over.add(command.input);
    await this.#client.send(command).catch(() => {});
  }
}

/** Whether it is a 200 that breaks off or is not DynamoDB's; the SDK retries only failures. */
function isGarbledSuccess(error: unknown): boolean {
  if (!(error instanceof SyntaxError)) return false;
  const { $metadata }: SyntaxError & { $metadata?: { httpStatusCode?: number } } = error;
  return ($metadata?.httpStatusCode ?? 200) === 200;
}

const THROTTLES = ['ThrottlingException', 'ProvisionedThroughputExceededException', 'RequestLimitExceeded'];

function databaseFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (THROTTLES.includes(error.name)) {
    return new PlantStoreError(429, 'The database is throttled. Repeating the request a little later is safe.', {
      cause: error,
    });
  }
  const refused = error instanceof DynamoDBServiceException && error.$fault === 'client';
  if (refused || error.name === 'CredentialsProviderError') return error;
  return new PlantStoreError(503, 'The database did not answer. Repeating the request is safe.', { cause: error });
}
