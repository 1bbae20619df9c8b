import { setTimeout as sleep } from 'node:timers/promises';
import type * as Sdk from '@aws-sdk/client-dynamodb';
import { environmentVariable } from '../environment-variable.ts';
import { type ErrorNumber, PlantStoreError } from '../errors.ts';
import { wholeNumber } from '../middleware/exact-numbers.ts';
import { sign } from './sign.ts';

/** DynamoDB usually responds within 10 ms. An attempt fails if no data arrives for this long. */
const IDLE_TIMEOUT_MS = 1000;
const MAX_ATTEMPTS = 3;
/** The longest wait before the second attempt; each further one doubles it. */
const BACKOFF_MS = 50;
/** DynamoDB refills a table's throughput each second. */
const BUSY_BACKOFF_MS = 500;
/** Milliseconds reserved at the end of the invocation to respond and log. */
const RESERVED_MS = 4000;

/** The part of Lambda's context that a call depends on. */
export interface RemainingTime {
  getRemainingTimeInMillis(): number;
}

/** Lets a call take one second in all: init must not wait longer for an unavailable database. */
export const ONE_SECOND: RemainingTime = { getRemainingTimeInMillis: () => RESERVED_MS + 1000 };

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
  /** With a token, because a repeated transaction without one could be applied twice. */
  TransactWriteItems: [Sdk.TransactWriteItemsInput & { ClientRequestToken: string }, Sdk.TransactWriteItemsOutput];
  UpdateItem: [Sdk.UpdateItemInput, Sdk.UpdateItemOutput];
}

/** A value of the SDK as JSON. Binary attribute values are base64, which the caller encodes and decodes. */
type Json<Value> = Value extends Uint8Array
  ? string
  : Value extends object
    ? { [Member in keyof Value]: Json<Value[Member]> }
    : Value;

export type Input<Action extends keyof Actions> = Json<Actions[Action][0]>;
export type Output<Action extends keyof Actions> = Json<Actions[Action][1]>;
export type AttributeValue = Json<Sdk.AttributeValue>;

/** A member of a body. */
export type MemberValue = string | number | bigint | boolean;

/** A member of a body as DynamoDB stores it. */
export function attributeValue(value: MemberValue): AttributeValue {
  if (typeof value === 'string') return { S: value };
  return typeof value === 'boolean' ? { BOOL: value } : { N: String(value) };
}

/** The reverse of `attributeValue`. A whole number becomes a bigint, which loses no digit. */
export function memberValue({ S, BOOL, N }: AttributeValue = { NULL: true }): MemberValue | undefined {
  return N === undefined ? (S ?? BOOL) : (wholeNumber(N) ?? Number(N));
}

/** An error that DynamoDB responds with. Its name is DynamoDB's, as in `ConditionalCheckFailedException`. */
export class DynamoDbError extends Error {
  readonly status: number;

  constructor(name: string, message: string, status: number) {
    super(message);
    this.name = name;
    this.status = status;
  }
}

/** Errors of DynamoDB that say to repeat the call later ("Error handling with DynamoDB"). */
const BUSY = [
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'TransactionInProgressException',
  'ReplicatedWriteConflictException',
];

/** A client of DynamoDB for the region, the credentials and the endpoint in Lambda's environment variables. */
export class DynamoDb {
  readonly endpoint = endpointOfRegion();
  // An ESM import of node:http would load undici (nodejs/node issue 59686).
  readonly #http = process.getBuiltinModule(
    this.endpoint.protocol === 'http:' ? 'node:http' : 'node:https',
  ) as typeof import('node:https');
  readonly #agent = new this.#http.Agent({ keepAlive: true });
  /** Lambda sets them once for an execution environment ("Using Lambda environment variables"). */
  readonly #signer = {
    region: environmentVariable('AWS_REGION'),
    accessKeyId: environmentVariable('AWS_ACCESS_KEY_ID'),
    secretAccessKey: environmentVariable('AWS_SECRET_ACCESS_KEY'),
    sessionToken: process.env['AWS_SESSION_TOKEN'] ?? '',
  };

  /**
   * Sends an action, up to three times, while there is time to respond.
   * Throws 429 if DynamoDB throttles; 503 if there is no response, a 5xx, or one that is not DynamoDB's; 504 if the time
   * is up; a DynamoDbError for any other error of DynamoDB, an unmet condition for example.
   */
  async send<Action extends keyof Actions>(
    action: Action,
    input: Input<Action>,
    time: RemainingTime,
  ): Promise<Output<Action>> {
    const body = JSON.stringify({ ...input, ReturnConsumedCapacity: 'TOTAL' });
    const deadline = new AbortController();
    const { signal } = deadline;
    const timer = setTimeout(() => deadline.abort(), Math.max(0, time.getRemainingTimeInMillis() - RESERVED_MS));
    let failure: Error | undefined;
    try {
      for (let attempt = 1; ; attempt += 1) {
        const result = await this.#post(action, body, signal).catch((error: Error) => error);
        if (!(result instanceof Error)) return result as Output<Action>;
        if (signal.aborted) throw repeatable(504, 'The database took too long to answer.', failure ?? result);
        const busy = BUSY.includes(result.name);
        if (result instanceof DynamoDbError && result.status < 500 && !busy) throw result;
        if (attempt === MAX_ATTEMPTS) {
          if (!busy) throw repeatable(503, 'The database did not answer.', result);
          throw repeatable(429, 'The database is throttled.', result, ' a little later');
        }
        failure = result;
        const longest = (busy ? BUSY_BACKOFF_MS : BACKOFF_MS) * 2 ** (attempt - 1);
        await sleep(Math.random() * longest, undefined, { signal }).catch(() => {});
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Makes one attempt. Returns the output, or the error that the response is; throws if there is no complete response. */
  #post(action: string, body: string, signal: AbortSignal): Promise<object> {
    const unsigned = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `DynamoDB_20120810.${action}` };
    // For each attempt: the environment may be frozen between two, and a signature expires.
    const headers = sign(this.endpoint, unsigned, body, this.#signer);
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const request = this.#http
        .request(this.endpoint, { method: 'POST', headers, agent: this.#agent, signal }, (response) => {
          clearTimeout(timer);
          response
            .on('data', (chunk: Buffer) => chunks.push(chunk))
            .on('end', () => resolve(outputOf(response.statusCode ?? 0, Buffer.concat(chunks).toString())))
            .on('error', reject);
        })
        .on('error', reject)
        // A response 101, for example, ends a request without an error.
        .on('close', () => reject(new Error('The database closed the connection.')));
      const giveUp = () => request.destroy(new Error(`The database sent nothing for ${IDLE_TIMEOUT_MS} ms.`));
      const timer = setTimeout(giveUp, IDLE_TIMEOUT_MS);
      request
        .on('close', () => clearTimeout(timer))
        .setTimeout(IDLE_TIMEOUT_MS, giveUp)
        .end(body);
    });
  }
}

/** Returns the output that a response holds, or the error: a DynamoDbError, or another one if it is not DynamoDB's. */
function outputOf(status: number, text: string): object {
  const { ConsumedCapacity, __type, message, Message = message, ...others } = parsed(text);
  // Only DynamoDB returns ConsumedCapacity; a proxy's empty 200 would read as "stored", or as "no such token".
  if (status === 200 && ConsumedCapacity) return { ConsumedCapacity, ...others };
  if (status >= 400 && __type) return new DynamoDbError(String(__type).replace(/.*#/, ''), String(Message), status);
  return new Error(`The response with status ${status} and ${text.length} characters is not DynamoDB's.`);
}

/** Returns the members of a JSON object, none if it is another text. The text may hold an item, so no error shows it. */
function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

function repeatable(error: ErrorNumber, problem: string, cause: Error, when = ''): PlantStoreError {
  return new PlantStoreError(error, `${problem} Repeating the request${when} is safe.`, { cause });
}

/** The endpoint of the region ("Amazon DynamoDB endpoints and quotas"), or the one that a variable names. */
function endpointOfRegion(): URL {
  const region = environmentVariable('AWS_REGION');
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const { AWS_ENDPOINT_URL_DYNAMODB: own, AWS_ENDPOINT_URL: ofAll } = process.env;
  return new URL(own || ofAll || `https://dynamodb.${region}.${suffix}`);
}
