import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deploy } from '../local/deploy.ts';
import type { LogLine } from '../local/lambda.ts';
import { inContract } from './support/contract.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { eventWith } from './support/event.ts';
import { type Fault, type Plan, startFaultProxy } from './support/fault-proxy.ts';

/** What a caller gets, faults or not: below the function's timeout, which is below the gateway's. */
const ANSWER_WITHIN_MS = 8000;
const ALWAYS = Number.POSITIVE_INFINITY;

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.close());

let lastId = 0n;

/** The deployed bundle in front of a store of this row alone, with a plant of its own to create. */
async function serviceOn(endpoint: string) {
  const lines: LogLine[] = [];
  const { functions, close } = await deploy(engine.template, { endpoint }, (line) => lines.push(line));
  const [lambda] = functions.values();
  lastId += 1n;
  const id = lastId;
  return {
    lines,
    close,
    stored: () => engine.stored(id),
    async create(name = 'fern') {
      const start = performance.now();
      const response = await lambda?.invoke(JSON.stringify(eventWith({ body: `{"id":${id},"name":"${name}"}` })));
      expect(performance.now() - start).toBeLessThan(ANSWER_WITHIN_MS);
      return inContract(JSON.parse(response ?? ''));
    },
  };
}

async function serviceBehind(...plans: Plan[]) {
  const proxy = await startFaultProxy(engine.endpoint);
  const service = await serviceOn(proxy.endpoint);
  proxy.plan(...plans);
  return {
    ...service,
    mend: () => proxy.plan(),
    close: async () => {
      await service.close();
      proxy.close();
    },
  };
}

/** The error number where a fault lasts. */
const faults: Record<Fault, number> = {
  hangs: 503,
  'stalls in the middle of its answer': 503,
  drips: 504,
  'resets the connection': 503,
  'answers 500': 503,
  throttles: 429,
  'answers 503 in HTML': 503,
  'answers 200 in HTML': 503,
  'answers half a JSON document': 503,
  'answers nothing': 503,
};
const rows = Object.entries(faults) as [Fault, number][];

const places = [
  { place: 'the token is read', operation: 'GetItem', applied: false },
  { place: 'the plant is put, before it is stored', operation: 'PutItem', applied: false },
  { place: 'the plant is put, after it is stored', operation: 'PutItem', applied: true },
] as const;

describe.each(places)('when $place', { concurrent: true }, ({ operation, applied }) => {
  test.for(rows)('a store that %s is an error %i, and a repeat after it is a 200', async ([fault, error]) => {
    const service = await serviceBehind({ operation, fault, applied, times: ALWAYS });
    const answer = await service.create();
    expect(answer).toMatchObject({ error, message: expect.stringMatching(/[Rr]epeating the request .*is safe\.$/) });
    expect(await service.stored()).toEqual(applied ? expect.objectContaining({ name: 'fern' }) : undefined);
    expect(service.lines).toHaveLength(1);
    service.mend();
    expect(await service.create()).toEqual({ name: 'fern' });
    expect(await service.stored()).toMatchObject({ name: 'fern' });
    await service.close();
  });

  // What drips uses up all the time there is; the others leave time for another attempt.
  test.for(rows.filter(([fault]) => fault !== 'drips'))('a store that %s once is a 200', async ([fault]) => {
    const service = await serviceBehind({ operation, fault, applied, times: 1 });
    expect(await service.create()).toEqual({ name: 'fern' });
    expect(await service.stored()).toMatchObject({ name: 'fern' });
    await service.close();
  });
});

describe('whatever happens', { concurrent: true }, () => {
  test('a store that is not there is a 503', async () => {
    const service = await serviceOn('http://127.0.0.1:1');
    expect(await service.create()).toMatchObject({ error: 503 });
    await service.close();
  });

  test('a store that hangs twice on the token and twice on the plant is still a 200', async () => {
    const hang = { fault: 'hangs', times: 2, applied: false } as const;
    const service = await serviceBehind({ operation: 'GetItem', ...hang }, { operation: 'PutItem', ...hang });
    expect(await service.create()).toEqual({ name: 'fern' });
    await service.close();
  });

  test('a plant put in place of a lost answer is a conflict for any other', async () => {
    const lost = { operation: 'PutItem', fault: 'resets the connection', times: 1, applied: true } as const;
    const service = await serviceBehind(lost);
    expect(await service.create('first')).toEqual({ name: 'first' });
    expect(await service.create('second')).toMatchObject({ error: 409 });
    expect(await service.stored()).toMatchObject({ name: 'first' });
    await service.close();
  });

  test.for(rows)('a store that %s during init fails no init', async ([fault]) => {
    const proxy = await startFaultProxy(engine.endpoint);
    proxy.plan({ operation: 'GetItem', fault, times: ALWAYS, applied: false });
    const service = await serviceOn(proxy.endpoint);
    proxy.plan();
    expect(await service.create()).toEqual({ name: 'fern' });
    await service.close();
    proxy.close();
  });

  test('a failed first request leaves nothing behind that breaks the second', async () => {
    const service = await serviceBehind({
      operation: 'GetItem',
      fault: 'resets the connection',
      times: ALWAYS,
      applied: false,
    });
    expect(await service.create()).toMatchObject({ error: 503 });
    expect(await service.create()).toMatchObject({ error: 503 });
    service.mend();
    expect(await service.create()).toEqual({ name: 'fern' });
    expect(await service.create('other')).toMatchObject({ error: 409 });
    await service.close();
  });
});
