import type * as Sdk from '@aws-sdk/client-dynamodb';
import { Hash } from '@smithy/core/serde';
import { SignatureV4 } from '@smithy/signature-v4';
import { environmentVariable } from '../environment-variable.ts';
import { PlantStoreError } from '../errors.ts';

/** DynamoDB responds within 10 ms; what is silent for a second stays silent. */
const SILENCE_MS = 1000;
const MAX_ATTEMPTS = 3;
/** The longest wait before the second attempt; each further one doubles it. */
const BACKOFF_MS = 50;
/** DynamoDB refills a table's throughput each second. */
const THROTTLED_BACKOFF_MS = 500;
/** Milliseconds reserved at the end of the invocation to respond and log. */
const RESERVED_MS = 4000;

/** The part of Lambda's context that a call depends on. */
export interface RemainingTime {
  getRemainingTimeInMillis(): number;
}

/** Enough time for one attempt: init must not wait for an unavailable database any longer. */
export const ONE_ATTEMPT: RemainingTime = { getRemainingTimeInMillis: () => RESERVED_MS + SILENCE_MS };

/** Inputs and outputs of DynamoDB's actions ("Amazon DynamoDB API Reference"). */
interface Actions {
  BatchGetItem: [Sdk.BatchGetItemInput, Sdk.BatchGetItemOutput];
  BatchWriteItem: [Sdk.BatchWriteItemInput, Sdk.BatchWriteItemOutput];
  DeleteItem: [Sdk.DeleteItemInput, Sdk.DeleteItemOutput];
  GetItem: [Sdk.GetItemInput, Sdk.GetItemOutput];
  PutItem: [Sdk.PutItemInput, Sdk.PutItemOutput];
  Query: [Sdk.QueryInput, Sdk.QueryOutput];
  Scan: [Sdk.ScanInput, Sdk.ScanOutput];
  TransactGetItems: [Sdk.TransactGetItemsInput, Sdk.TransactGetItemsOutput];
  TransactWriteItems: [Sdk.TransactWriteItemsInput, Sdk.TransactWriteItemsOutput];
  UpdateItem: [Sdk.UpdateItemInput, Sdk.UpdateItemOutput];
}

/** A value of the SDK as JSON. Binary attribute values are text in base64 there, and nothing here encodes them. */
type Json<Value> = Value extends Uint8Array
  ? string
  : Value extends object
    ? { [Member in keyof Value]: Json<Value[Member]> }
    : Value;

export type Input<Action extends keyof Actions> = Json<Actions[Action][0]>;
export type Output<Action extends keyof Actions> = Json<Actions[Action][1]>;
export type AttributeValue = Json<Sdk.AttributeValue>;

/** An error that DynamoDB responds with. Its name is DynamoDB's, as in `ConditionalCheckFailedException`. */
export class DynamoDbError extends Error {
  readonly status: number;

  constructor(name: string, message: string, status: number) {
    super(message);
    this.name = name;
    this.status = status;
  }
}

/** DynamoDB's errors that a repeated call may not meet again ("Error handling with DynamoDB"). */
const THROTTLING = [
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'TransactionInProgressException',
  'ReplicatedWriteConflictException',
];

/** A client of DynamoDB for the region, the credentials and the endpoint in Lambda's environment variables. */
export class DynamoDb {
  readonly endpoint = endpointOfRegion();
  readonly #http = builtIn(this.endpoint.protocol === 'http:' ? 'node:http' : 'node:https');
  readonly #agent = new this.#http.Agent({ keepAlive: true });
  readonly #signer = new SignatureV4({
    service: 'dynamodb',
    region: environmentVariable('AWS_REGION'),
    // Lambda sets them once for an execution environment ("Using Lambda environment variables").
    credentials: {
      accessKeyId: environmentVariable('AWS_ACCESS_KEY_ID'),
      secretAccessKey: environmentVariable('AWS_SECRET_ACCESS_KEY'),
      ...(process.env['AWS_SESSION_TOKEN'] && { sessionToken: process.env['AWS_SESSION_TOKEN'] }),
    },
    sha256: Hash.bind(null, 'sha256'),
  });

  /**
   * Sends an action, up to three times, while there is time to respond.
   * Throws 429 if DynamoDB throttles, 503 if it does not respond, or not as DynamoDB does, 504 if the time is up, and a
   * DynamoDbError for any other error of DynamoDB (an unmet condition, for example).
   */
  async send<Action extends keyof Actions>(
    action: Action,
    input: Input<Action>,
    time: RemainingTime,
  ): Promise<Output<Action>> {
    const body = JSON.stringify({ ...input, ReturnConsumedCapacity: 'TOTAL' });
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), Math.max(0, time.getRemainingTimeInMillis() - RESERVED_MS));
    try {
      for (let attempt = 1; ; attempt += 1) {
        const result = await this.#attempt(action, body, deadline.signal).catch((error: Error) => error);
        if (!(result instanceof Error)) return result as Output<Action>;
        const throttled = THROTTLING.includes(result.name);
        if (result instanceof DynamoDbError && result.status < 500 && !throttled) throw result;
        if (deadline.signal.aborted) {
          throw new PlantStoreError(504, 'The database took too long to answer. Repeating the request is safe.');
        }
        if (attempt === MAX_ATTEMPTS) throw throttled ? throttledError(result) : unavailableError(result);
        const longest = (throttled ? THROTTLED_BACKOFF_MS : BACKOFF_MS) * 2 ** (attempt - 1);
        await pause(Math.random() * longest, deadline.signal);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async #attempt(action: string, body: string, signal: AbortSignal): Promise<unknown> {
    const { protocol, hostname, host, port, pathname: path } = this.endpoint;
    const headers = {
      host,
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${action}`,
    };
    const request = { method: 'POST', protocol, hostname, path, query: {}, headers, body };
    const signed = await this.#signer.sign(request);
    return outputOf(await this.#post({ hostname, port, path, headers: signed.headers }, body, signal));
  }

  #post(target: object, body: string, signal: AbortSignal): Promise<{ status: number | undefined; text: string }> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const request = this.#http
        .request({ ...target, method: 'POST', agent: this.#agent, signal }, (response) => {
          clearTimeout(timer);
          response
            .on('data', (chunk: Buffer) => chunks.push(chunk))
            .on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }))
            .on('error', reject);
        })
        .on('error', reject)
        // A response 101, for example, ends a request without an error.
        .on('close', () => reject(new Error('The database closed the connection.')));
      const giveUp = () => request.destroy(new Error(`The database was silent for ${SILENCE_MS} ms.`));
      const timer = setTimeout(giveUp, SILENCE_MS);
      request
        .on('close', () => clearTimeout(timer))
        .setTimeout(SILENCE_MS, giveUp)
        .end(body);
    });
  }
}

/** Returns the output that a response holds. Throws a DynamoDbError, or another Error if it is not DynamoDB's. */
function outputOf({ status = 0, text }: { status: number | undefined; text: string }): unknown {
  const { ConsumedCapacity, __type, message, Message = message, ...others } = parsed(text);
  // Only DynamoDB returns ConsumedCapacity; a proxy's empty 200 would read as "stored", or as "no such token".
  if (status === 200 && ConsumedCapacity) return { ConsumedCapacity, ...others };
  if (status >= 400 && __type) throw new DynamoDbError(String(__type).replace(/.*#/, ''), String(Message), status);
  throw new Error(`The response with status ${status} and ${text.length} characters is not DynamoDB's.`);
}

/** Returns the members of a JSON object, none if it is another text. The text may hold an item, so no error shows it. */
function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

function throttledError(cause: Error): PlantStoreError {
  return new PlantStoreError(429, 'The database is throttled. Repeating the request a little later is safe.', {
    cause,
  });
}

function unavailableError(cause: Error): PlantStoreError {
  return new PlantStoreError(503, 'The database did not answer. Repeating the request is safe.', { cause });
}

/** Waits for so many milliseconds, or until the signal. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** The endpoint of the region ("Amazon DynamoDB endpoints and quotas"), or the one that a variable names. */
function endpointOfRegion(): URL {
  const region = environmentVariable('AWS_REGION');
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const { AWS_ENDPOINT_URL_DYNAMODB: own, AWS_ENDPOINT_URL: ofAll } = process.env;
  return new URL(own || ofAll || `https://dynamodb.${region}.${suffix}`);
}

/** An ESM import of node:http would load undici (nodejs/node issue 59686). */
function builtIn(name: 'node:http' | 'node:https'): typeof import('node:https') {
  return process.getBuiltinModule(name) as typeof import('node:https');
}
