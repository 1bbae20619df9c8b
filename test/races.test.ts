import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Deployment, deploy } from '../local/lambda.ts';
import { type ApiResponse, contractBody } from './support/contract.ts';
import { type Engine, startEngine } from './support/engine.ts';
import { eventWith } from './support/event.ts';

let engine: Engine;
let deployment: Deployment;
beforeAll(async () => {
  engine = await startEngine();
  deployment = await deploy(engine.template, engine, () => {});
});
afterAll(async () => {
  await deployment.close();
  await engine.close();
});

interface Attempt {
  id: number;
  name: string;
  tag?: string;
}

const attempt = fc.record(
  { id: fc.integer({ min: 0, max: 4 }), name: fc.constantFrom('fern', 'moss'), tag: fc.constantFrom('', 'wet') },
  { requiredKeys: ['id', 'name'] },
);

test('of 200 concurrent requests over few ids at most one plant wins an id, and no 200 is a lie', async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(attempt, { minLength: 200, maxLength: 200 }), async (attempts: Attempt[]) => {
      round += 1;
      const idOf = ({ id }: Attempt) => BigInt(round * 10 + id);
      const outcomes = await Promise.all(
        attempts.map(async (plant) => {
          const body = JSON.stringify({ ...plant, id: Number(idOf(plant)) });
          return { plant, answer: contractBody((await deployment.invoke(eventWith({ body }))) as ApiResponse) };
        }),
      );
      // The model: an id belongs to one plant, its repeats succeed, all others conflict.
      for (const { plant, answer } of outcomes) {
        const { id, ...members } = plant;
        const stored = await engine.stored(idOf(plant));
        expect(stored, 'no write is lost').toBeDefined();
        const won = stored?.name === members.name && stored?.tag === members.tag;
        if (won) expect(answer).toEqual(members);
        else expect(answer).toMatchObject({ error: 409 });
      }
    }),
    { numRuns: 3 },
  );
});
