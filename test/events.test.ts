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

// Some requests fail because its id is in use.
beforeAll(async () => void (await handler(sampleEvent('create-plant'), contextWith())));

const { requestBody, responses } = contract['paths']['/plants'].post;
const contentOf = (status: string) => responses[status].content['application/json'];
const example = (name: string): unknown => contentOf('400').examples[name].value;
const created: unknown = contentOf('200').example;
const headersWith = (changes: object) => ({ headers: { ...sampleEvent('create-plant').headers, ...changes } });

const EVENTS: Record<string, unknown> = {
  'create-plant': created,
  'create-plant-name-missing': example('name-missing'),
  'create-plant-no-token': example('no-token'),
};

test.each(sampleNames)('the sample event %s gets the response in openapi.yaml', async (name) => {
  expect(EVENTS[name], 'a response for this event').toBeDefined();
  expect(await respond(sampleEvent(name))).toEqual(EVENTS[name]);
});

test('the example of a request in openapi.yaml gets the response of the example', async () => {
  const { example: plant } = requestBody.content['application/json'];
  expect(await respond({ body: JSON.stringify(plant) })).toEqual(created);
});

test.each([
  ['id-out-of-range', { body: bodyOf(2n ** 63n) }],
  ['unknown-token', headersWith({ Authorization: `Bearer ${UNKNOWN_TOKEN}` })],
  ['not-declared-as-json', headersWith({ 'Content-Type': 'text/plain' })],
  ['id-in-use', { body: bodyOf(1, plantWith({ name: 'another' })) }],
])('the example %s in openapi.yaml is the response', async (name, event) => {
  expect(await respond(event)).toEqual(example(name));
});
