import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { vi } from 'vitest';
import type { AttributeValue, Input } from '../../functions/shared/dynamodb/dynamodb.ts';
import { startEngine } from './engine.ts';
import { contextWith, handlerOf } from './event.ts';

type Put = Input<'PutItem'>;
type Invoke = (event: APIGatewayProxyEvent) => Promise<APIGatewayProxyResult>;

type InvokeVersion = (
  event: APIGatewayProxyEvent,
  correct: Invoke,
  validToken: string,
) => Promise<APIGatewayProxyResult>;

/** A realistic faulty version of createPlant: what differs from the correct one. */
interface BrokenVersion {
  /** Handles an event. */
  invoke?: InvokeVersion;
  /** Changes what is written. */
  put?: (input: Put) => Put;
}

const textOf = ({ body }: APIGatewayProxyEvent) => Buffer.from(body ?? '', 'base64').toString();
const authorizationOf = ({ headers }: APIGatewayProxyEvent) => headers['Authorization'] ?? headers['authorization'];

const editBody =
  (edit: (text: string) => string): InvokeVersion =>
  (event, correct) =>
    correct({ ...event, body: Buffer.from(edit(textOf(event))).toString('base64') });

/** Adds a member to the bodies that match. */
const addMember = (member: string, isMatch: (text: string) => boolean) =>
  editBody((text) => (isMatch(text) ? text.replace(/\}$/, `,${member}}`) : text));

/** Replaces a text of the response. */
const editResponse =
  (from: string, to: string): InvokeVersion =>
  async (event, correct) => {
    const response = await correct(event);
    return { ...response, body: response.body.replace(from, to) };
  };

/** Accepts the Authorization headers that match the pattern. */
const acceptAuthorization =
  (pattern: RegExp): InvokeVersion =>
  (event, correct, validToken) => {
    const accepted = pattern.test(authorizationOf(event) ?? '');
    return correct(accepted ? withToken(event, validToken) : event);
  };

function withToken(event: APIGatewayProxyEvent, token: string): APIGatewayProxyEvent {
  const { authorization: _, ...headers } = event.headers;
  return { ...event, headers: { ...headers, Authorization: `Bearer ${token}` } };
}

const errorResponse = (error: number) => ({
  statusCode: 400,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ error, message: 'It is wrong.' }),
});

/** Changes a member of the item that is written. */
const editMember =
  (name: string, edit: (attribute: AttributeValue) => AttributeValue) =>
  ({ Item, ...input }: Put): Put => ({ ...input, Item: { ...Item, [name]: edit(Item?.[name] ?? { S: '' }) } });

const editId = (edit: (id: string) => string) => editMember('id', ({ N = '' }) => ({ N: edit(N) }));

const ANY_OPAQUE_TOKEN = /^Bearer plantstore_\w+$/;
/** The cache of the version with a wrong key. */
let cached = false;

/** The broken versions, by the title of the check that they fail first. */
const versionsByCheck: Record<string, Record<string, BrokenVersion>> = {
  'creates a plant': {
    'crashes at init': { invoke: () => Promise.reject(new Error('A variable is missing.')) },
    'takes longer than 8 s': { invoke: () => new Promise(() => {}) },
    'uses a wrong table': { put: (input) => ({ ...input, TableName: 'Other' }) },
    'lacks a permission': {
      put: () => {
        throw new Error('AccessDeniedException');
      },
    },
    'does not decode base64': { invoke: (event, correct) => correct({ ...event, isBase64Encoded: false }) },
    'has the id in its response': { invoke: editResponse('{"name"', '{"id":1,"name"') },
    'responds with another Content-Type': {
      invoke: async (event, correct) => ({ ...(await correct(event)), headers: { 'content-type': 'text/html' } }),
    },
  },
  'creates the same plant again': {
    'stores the tag as the name': { put: (input) => editMember('name', () => input.Item?.['tag'] ?? { S: '' })(input) },
  },
  'rejects a name that differs only in case': {
    'stores without a condition': { put: ({ TableName, Item }) => ({ TableName, Item }) },
    'responds to a conflict with error 500': { invoke: editResponse('"error":409', '"error":500') },
  },
  'rejects the same plant without its tag': {
    'ignores the tag of a stored plant': {
      invoke: addMember('"tag":"check"', (text) => /"Check"/.test(text) && !/"tag"/.test(text)),
    },
  },
  'keeps apart two ids beyond 2^53 that differ by one': {
    'rounds ids': { put: editId((id) => String(BigInt(Number(id)) - 1024n)) },
  },
  'keeps apart an id and its negative': { 'drops the sign of ids': { put: editId((id) => id.replace('-', '')) } },
  'rejects a request without a token': { 'does not check tokens': { invoke: acceptAuthorization(/^/) } },
  'rejects an unknown token': {
    'accepts unknown tokens': { invoke: acceptAuthorization(ANY_OPAQUE_TOKEN) },
    'caches a valid token with a wrong key': {
      invoke: (event, correct, validToken) => {
        const isValid = authorizationOf(event) === `Bearer ${validToken}`;
        if (!isValid && cached) return acceptAuthorization(ANY_OPAQUE_TOKEN)(event, correct, validToken);
        cached ||= isValid;
        return correct(event);
      },
    },
  },
  'rejects an unknown token after "bearer" in lower case': {
    'accepts any token after "bearer"': { invoke: acceptAuthorization(/^bearer /) },
  },
  'rejects an expired token': {
    'accepts expired tokens': { invoke: acceptAuthorization(/^Bearer plantstore_(?!0{43})\w+$/) },
  },
  'checks the token before the body': {
    'validates the body before the token': {
      invoke: async (event, correct) => (textOf(event) === '{"id":' ? errorResponse(400) : correct(event)),
    },
  },
  'rejects an id above int64': {
    'does not check the range of ids': {
      invoke: editBody((text) => text.replace(/"id":9(22[4-9]|2[3-9]\d)\d{15},/, '"id":1,')),
    },
  },
  'rejects a plant without a name': {
    'stores a plant without a name': {
      invoke: addMember('"name":""', (text) => /"id"/.test(text) && !/"name"/.test(text)),
    },
  },
  'rejects a lone surrogate': {
    'replaces lone surrogates': { invoke: editBody((text) => text.replace('\\ud800', '\ufffd')) },
  },
  'ignores unknown members': {
    'rejects unknown members': {
      invoke: async (event, correct) => (/unknown/.test(textOf(event)) ? errorResponse(400) : correct(event)),
    },
  },
  'does not normalize Unicode': {
    'normalizes Unicode': { put: editMember('name', ({ S = '' }) => ({ S: S.normalize() })) },
  },
  'has stored nothing that it rejected': {
    'stores a plant before it checks the token': {
      invoke: async (event, correct, validToken) => {
        await correct(withToken(event, validToken));
        return await correct(event);
      },
    },
  },
};

/** Each broken version with the title of the check that it fails first. */
export const brokenVersions = Object.entries(versionsByCheck).flatMap(([check, versions]) =>
  Object.entries(versions).map(([failure, version]) => [failure, check, version] as const),
);

/**
 * Starts an engine with createPlant. Returns the engine, and a function that runs an event on a version, by default the
 * correct one. `validToken` is the token of the checks.
 */
export async function startVersions() {
  const engine = await startEngine();
  // The modules read the environment variables of this engine when they are loaded.
  vi.resetModules();
  const { DynamoDb } = await import('../../functions/shared/dynamodb/dynamodb.ts');
  const handler = handlerOf(await import('../../functions/create-plant/index.ts'));
  const { send } = DynamoDb.prototype;
  let put: BrokenVersion['put'];
  // The casts are safe because only the input of PutItem changes.
  DynamoDb.prototype.send = function (this: unknown, action, input, context) {
    const changed = action === 'PutItem' && put ? put(input as Put) : input;
    return Reflect.apply(send, this, [action, changed, context]);
  } as typeof send;
  const correct: Invoke = (event) => handler(structuredClone(event), contextWith());
  return {
    engine,
    invoke(event: APIGatewayProxyEvent, validToken: string, version: BrokenVersion = {}) {
      put = version.put;
      return (version.invoke ?? correct)(event, correct, validToken);
    },
  };
}

/** Shortens the 8 s in which a response must come, for the version that takes longer. The first `full` requests keep 8 s. */
export function stubResponseLimit(failure: string, full = 0): void {
  if (!failure.startsWith('takes longer')) return;
  const { timeout } = AbortSignal;
  let requests = 0;
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    requests += ms === 8000 ? 1 : 0;
    return timeout.call(AbortSignal, ms === 8000 && requests > full ? 50 : ms);
  });
}
