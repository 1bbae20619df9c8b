import { beforeAll, expect, test, vi } from 'vitest';
import { UNKNOWN_TOKEN } from '../functions/tokens/token.ts';
import { contract, contractBody } from './support/contract-body.ts';
import { startEngine } from './support/engine.ts';
import { bodyOf, contextWith, eventWith, plantWith, sampleEvent, sampleNames } from './support/event.ts';

/* The requests that people send first: the sample events, and the examples in openapi.yaml. */

await startEngine();
const { handler } = await import('../functions/index.ts');
vi.spyOn(console, 'info').mockReturnValue();

async function respond(event: object) {
  return contractBody(await handler(eventWith(event), contextWith()));
}

// The example id-in-use needs a stored plant.
beforeAll(async () => void (await handler(sampleEvent('create-plant'), contextWith())));

const { requestBody, responses } = contract['paths']['/plants'].post;
const contentOf = (status: string) => responses[status].content['application/json'];
const example = (name: string): unknown => contentOf('400').examples[name].value;
const created: unknown = contentOf('200').example;
const headersWith = (changes: object) => ({ headers: { ...sampleEvent('create-plant').headers, ...changes } });

test.each(sampleNames)('the sample event %s gets the response in openapi.yaml', async (name) => {
  const error = name.replace(/^create-plant-?/, '');
  expect(await respond(sampleEvent(name))).toEqual(error ? example(error) : created);
});

test.each([
  [created, { body: JSON.stringify(requestBody.content['application/json'].example) }],
  [example('id-out-of-range'), { body: bodyOf(2n ** 63n) }],
  [example('unknown-token'), headersWith({ Authorization: `Bearer ${UNKNOWN_TOKEN}` })],
  [example('not-declared-as-json'), headersWith({ 'Content-Type': 'text/plain' })],
  [example('id-in-use'), { body: bodyOf(1, plantWith('another')) }],
])('the example %j in openapi.yaml is the response', async (expected, event) => {
  expect(await respond(event)).toEqual(expected);
});
