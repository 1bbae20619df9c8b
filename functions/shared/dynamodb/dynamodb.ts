import { setTimeout as sleep } from 'node:timers/promises';
import type * as Sdk from '@aws-sdk/client-dynamodb';
import type { Context } from 'aws-lambda';
import { environmentVariable, optionalVariable } from '../environment.ts';
import { type ErrorNumber, PlantStoreError } from '../errors.ts';
import { parseDigits } from '../exact-numbers.ts';
import { sign } from './sign.ts';

/** An attempt fails if no headers, or later no data, arrive for this time. DynamoDB usually takes 10 ms. */
const IDLE_TIMEOUT_MS = 1000;
const MAX_ATTEMPTS = 3;
/** Maximum wait before the second attempt. It doubles with every further attempt. */
const BACKOFF_MS = 50;
/** Longer than BACKOFF_MS, because DynamoDB refills a table's throughput once per second. */
const THROTTLING_BACKOFF_MS = 500;
/** Milliseconds reserved at the end of the invocation to respond and log. */
const RESERVED_MS = 4000;

/** Lambda's context, which says how much time the invocation has left; or, in init, a number of milliseconds. */
export type TimeLimit = Pick<Context, 'getRemainingTimeInMillis'> | number;

/** The inputs and outputs of the actions that `send` accepts ("Amazon DynamoDB API Reference"). */
interface Actions {
  DeleteItem: [Sdk.DeleteItemInput, Sdk.DeleteItemOutput];
  GetItem: [Sdk.GetItemInput, Sdk.GetItemOutput];
  PutItem: [Sdk.PutItemInput, Sdk.PutItemOutput];
  Query: [Sdk.QueryInput, Sdk.QueryOutput];
  Scan: [Sdk.ScanInput, Sdk.ScanOutput];
  /** A retried update can be applied twice: use SET with fixed values instead of ADD, or add a condition. */
  UpdateItem: [Sdk.UpdateItemInput, Sdk.UpdateItemOutput];
}

export type Action = keyof Actions;

/** The JSON form of an SDK type. Binary attribute values are base64 strings. */
type Json<Value> = Value extends Uint8Array
  ? string
  : Value extends object
    ? { [Member in keyof Value]: Json<Value[Member]> }
    : Value;

export type Input<Action extends keyof Actions> = Json<Actions[Action][0]>;
export type Output<Action extends keyof Actions> = Json<Actions[Action][1]>;
export type AttributeValue = Json<Sdk.AttributeValue>;

/** The value of a body's member. */
export type MemberValue = string | number | bigint | boolean;

/** Converts a member's value to a DynamoDB attribute. */
export function attributeValue(value: MemberValue): AttributeValue {
  if (typeof value === 'string') return { S: value };
  return typeof value === 'boolean' ? { BOOL: value } : { N: String(value) };
}

/**
 * Converts a DynamoDB attribute to a member's value. An integer of up to 19 digits becomes a bigint. Returns
 * undefined for a missing attribute, a null, a list and a map.
 */
export function memberValue({ S, BOOL, N }: AttributeValue = { NULL: true }): MemberValue | undefined {
  return N === undefined ? (S ?? BOOL) : (parseDigits(N) ?? Number(N));
}

/** DynamoDB does not say whether a whole number is an int64, so each is a bigint. */
type Stored<Value> = Value extends number ? number | bigint : Value;
type StoredMembers<Members> = { [Name in keyof Members]: Stored<Members[Name]> };

/**
 * Converts an item to an object with these members. One that the item does not have is undefined, which a response omits.
 * `Members` is a type of the contract, which the item matched when it was stored.
 */
export function membersOf<Members extends object>(
  item: Record<string, AttributeValue>,
  names: (keyof Members & string)[],
): StoredMembers<Members> {
  return Object.fromEntries(names.map((name) => [name, memberValue(item[name])])) as StoredMembers<Members>;
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

/** The errors that need a longer wait: those that AWS's SDKs treat as throttling, and that of a global table's conflict. */
const THROTTLING_ERRORS = [
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ReplicatedWriteConflictException',
];

/** A DynamoDB client. It takes region, credentials and endpoint from Lambda's environment variables. */
export class DynamoDb {
  readonly endpoint = resolveEndpoint();
  // An ESM import of node:http would load undici (nodejs/node issue 59686).
  readonly #http = process.getBuiltinModule(
    this.endpoint.protocol === 'http:' ? 'node:http' : 'node:https',
  ) as typeof import('node:https');
  readonly #agent = new this.#http.Agent({ keepAlive: true });
  /** Lambda never changes them in an execution environment ("Using Lambda environment variables"). */
  readonly #signingSettings = {
    region: environmentVariable('AWS_REGION'),
    accessKeyId: environmentVariable('AWS_ACCESS_KEY_ID'),
    secretAccessKey: environmentVariable('AWS_SECRET_ACCESS_KEY'),
    sessionToken: optionalVariable('AWS_SESSION_TOKEN') ?? '',
  };

  /**
   * Sends an action, in up to three attempts, within the time limit.
   *
   * @throws 429 if DynamoDB throttles; 503 for no response, a 5xx, or a response that is not DynamoDB's; 504 if the
   * time is up; a DynamoDbError for any other error of DynamoDB, for example a condition that is not met.
   */
  async send<Action extends keyof Actions>(
    action: Action,
    input: Input<Action>,
    limit: TimeLimit,
  ): Promise<Output<Action>> {
    const body = JSON.stringify({ ...input, ReturnConsumedCapacity: 'TOTAL' });
    const milliseconds = typeof limit === 'number' ? limit : limit.getRemainingTimeInMillis() - RESERVED_MS;
    const signal = AbortSignal.timeout(Math.max(0, milliseconds));
    let previous: Error | undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return parseResponse(await this.#post(action, body, signal)) as Output<Action>;
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

  /** Makes one attempt. Rejects if there is no complete response. */
  #post(action: string, body: string, signal: AbortSignal): Promise<HttpResponse> {
    const unsigned = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `DynamoDB_20120810.${action}` };
    // Signs every attempt, because Lambda can freeze the environment between two attempts, and a signature expires.
    const headers = sign(this.endpoint, unsigned, body, this.#signingSettings);
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const request = this.#http
        .request(this.endpoint, { method: 'POST', headers, agent: this.#agent, signal }, (response) =>
          response
            .on('data', (chunk: Buffer) => {
              chunks.push(chunk);
              timer.refresh();
            })
            .on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
            .on('error', reject),
        )
        .on('error', reject)
        .on('close', () => {
          clearTimeout(timer);
          // A 101 response, for example, closes a request without an error.
          reject(new Error('The database closed the connection.'));
        })
        .end(body);
      // The option `timeout` of node:http would not end a request whose headers never end.
      const giveUp = () => request.destroy(new Error(`The database sent nothing for ${IDLE_TIMEOUT_MS} ms.`));
      const timer = setTimeout(giveUp, IDLE_TIMEOUT_MS);
    });
  }
}

interface HttpResponse {
  status: number;
  text: string;
}

/** Returns the output of a response. Throws a DynamoDbError, or another error if DynamoDB did not send the response. */
function parseResponse({ status, text }: HttpResponse): object {
  const { ConsumedCapacity, __type, message, Message = message, ...others } = parseObject(text);
  // Only DynamoDB returns ConsumedCapacity. A proxy's empty 200 would otherwise mean "stored" or "no such token".
  if (status === 200 && ConsumedCapacity) return { ConsumedCapacity, ...others };
  if (status >= 400 && __type) throw new DynamoDbError(String(__type).replace(/.*#/, ''), String(Message), status);
  throw new Error(`The response with status ${status} and ${text.length} characters is not DynamoDB's.`);
}

/** Parses JSON; returns an empty object for other text. Does not throw, because the error would quote the text, an item. */
function parseObject(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

function retryable(error: ErrorNumber, problem: string, cause: Error, what = 'the request'): PlantStoreError {
  return new PlantStoreError(error, `${problem} Repeating ${what} is safe.`, { cause });
}

/** Returns the endpoint from the environment, or else the region's ("Amazon DynamoDB endpoints and quotas"). */
function resolveEndpoint(): URL {
  const region = environmentVariable('AWS_REGION');
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const url = optionalVariable('AWS_ENDPOINT_URL_DYNAMODB') || optionalVariable('AWS_ENDPOINT_URL');
  return new URL(url || `https://dynamodb.${region}.${suffix}`);
}
