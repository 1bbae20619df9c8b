import { Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { PutItemInput } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { contextWith, plantWith } from '../../test/support/event.ts';
import { DynamoDb, type StoredItem } from '../dynamodb/client.ts';
import type { DatabaseResponse } from '../dynamodb/connection.ts';
import { createPlant } from './create-plant.ts';
import { fromItem, type Plant } from './plant.generated.ts';

/*
 * Two clients create a plant with the same id. Tries every order of their writes, with every choice of LOST, of
 * THROTTLED, and of LATE. A 200 must mean that the plant is stored, and a 409 that another one is. After a 429 or 503, a
 * repetition must end with these.
 */

// No call runs out of time.
const { signal } = new AbortController();
AbortSignal.timeout = () => signal;
const context = contextWith();

/** The writes that are sent but not carried out, by their clients. Without a response, an attempt fails. */
const waiting = new Map<string, { put: PutItemInput; respond: (response?: DatabaseResponse) => void }>();

const clients = ['client 1', 'client 2'].map((client) => {
  const send = async (_: string, body: string) => {
    const put = JSON.parse(body);
    const response = await new Promise<DatabaseResponse | undefined>((respond) =>
      waiting.set(client, { put, respond }),
    );
    if (!response) throw new Error('lost');
    return response;
  };
  // No wait between attempts takes time.
  return createPlant(new DynamoDb({ send }, async () => {}), 'Plants');
});

let stored: StoredItem | undefined;
let history: string[] = [];

const socket = new Socket();
const response = (status: number, body: object) => ({ status, text: JSON.stringify(body), socket });

/** Carries out a write. Returns the response ("PutItem", Amazon DynamoDB API Reference). */
function write({ Item = {}, ConditionExpression, ReturnValuesOnConditionCheckFailure: returned }: PutItemInput) {
  if (stored && ConditionExpression === 'attribute_not_exists(id)') {
    const old = returned === 'ALL_OLD' && { Item: stored };
    return response(400, { __type: 'ConditionalCheckFailedException', ...old });
  }
  // The attributes of an item have no order.
  stored = Object.fromEntries(Object.entries(Item).toReversed());
  return response(200, { ConsumedCapacity: { TableName: 'Plants' } });
}

/** The outcomes of a write. Each function returns the response, if one arrives. */
const OUTCOMES = {
  succeeds: write,
  'is lost': () => undefined,
  'loses its response': (put: PutItemInput) => void write(put),
  'is throttled': () => response(400, { __type: 'ThrottlingException' }),
  'is late': (put: PutItemInput) => void waiting.set('the late write', { put, respond: () => {} }),
};
type Outcome = keyof typeof OUTCOMES;
type Choose = <T>(options: T[]) => T;

/** Sends a plant from each client, until no write waits. Returns each client's plant, or the number of its error. */
async function create(plants: Plant[], outcomes: Outcome[], choose: Choose): Promise<unknown[]> {
  const responses = plants.map((plant, index) =>
    clients[index]?.({ body: { id: 1n, ...plant }, tokenName: 'ci' }, context).then(
      ({ body }) => JSON.parse(body),
      ({ error = 500 }) => error,
    ),
  );
  for (let possible = outcomes; ; ) {
    // Lets the clients go on until they wait for responses.
    await new Promise(process.nextTick);
    if (waiting.size === 0) return await Promise.all(responses);
    const [client, { put, respond }] = choose([...waiting]);
    const outcome = client === 'the late write' ? 'succeeds' : choose(possible);
    waiting.delete(client);
    respond(OUTCOMES[outcome](put));
    history.push(`${client} ${outcome}`);
    // At most one write is late.
    if (outcome === 'is late') possible = outcomes.filter((other) => other !== 'is late');
  }
}

/** Fails if a client's response is neither right for the stored plant nor one of `failures`. */
function expectRight(plants: Plant[], responses: unknown[], failures: unknown[]): void {
  const storedPlant = stored && JSON.parse(JSON.stringify(fromItem(stored)));
  for (const [index, plant] of plants.entries()) {
    const response = responses[index];
    const right = storedPlant && (isDeepStrictEqual(storedPlant, { id: '1', ...plant }) ? plant : 409);
    if (failures.includes(response) || (right && isDeepStrictEqual(response, right))) continue;
    const [was, expected, because] = [response, [right, ...failures], storedPlant].map((value) =>
      JSON.stringify(value),
    );
    expect.fail(
      `client ${index + 1} got ${was}, not one of ${expected}; stored is ${because}, after ${history.join(', ')}`,
    );
  }
}

/** Calls `run` with each list of choices that it can make. Returns the number of lists. */
async function tryAll(run: (choose: Choose) => Promise<void>): Promise<number> {
  const lists: number[][] = [[]];
  for (const list of lists) {
    let depth = 0;
    await run(<T>(options: T[]) => {
      // At its end, a list goes on with the first option. Each other option begins a list of its own.
      if (depth === list.length) {
        lists.push(...options.slice(1).map((_, index) => [...list, index + 1]));
        list.push(0);
      }
      depth += 1;
      return options[Number(list[depth - 1])] as T;
    });
  }
  return lists.length;
}

// All outcomes in one list would be more than 56,000 schedules, and would see no other mistake.
const LOST: Outcome[] = ['succeeds', 'is lost', 'loses its response'];
const THROTTLED: Outcome[] = ['succeeds', 'loses its response', 'is throttled'];
const LATE: Outcome[] = ['succeeds', 'is lost', 'is late'];

test.for<[string, string, Outcome[], number]>([
  ['Aloe', 'Aloe', LOST, 3400],
  ['Aloe', 'Fern', LOST, 3400],
  ['Aloe', 'Aloe', THROTTLED, 3400],
  ['Aloe', 'Fern', THROTTLED, 3400],
  ['Aloe', 'Aloe', LATE, 2300],
  ['Aloe', 'Fern', LATE, 2300],
])('in all schedules of %s and %s in which a write %j, the responses are right', async (row, { annotate }) => {
  const [first, second, outcomes, leastSchedules] = row;
  const plants = [first, second].map((text) => plantWith(text));
  const tried = await tryAll(async (choose) => {
    [stored, history] = [undefined, []];
    expectRight(plants, await create(plants, outcomes, choose), [429, 503]);
    expectRight(plants, await create(plants, ['succeeds'], <T>([first]: T[]) => first as T), []);
  });
  await annotate(`${tried} schedules`);
  expect(tried).toBeGreaterThan(leastSchedules);
});
