import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, inContract } from '../../test/support/contract.ts';
import { type Engine, startEngine } from '../../test/support/engine.ts';
import { contextWith, sampleEvent } from '../../test/support/event.ts';

let engine: Engine;
let handler: (event: APIGatewayProxyEvent, context: unknown) => Promise<Answer>;
beforeAll(async () => {
  engine = await startEngine();
  // The module reads its environment when it is loaded.
  handler = (await import('./index.ts')).handler as unknown as typeof handler;
});
afterAll(() => engine.close());

async function get(id: string): Promise<Record<string, unknown>> {
  const event = { ...sampleEvent('get-plant'), pathParameters: { id } };
  return inContract(await handler(event, contextWith()), event);
}

test('a plant is answered as it is stored, without its id', async () => {
  const Item = { id: { N: '-9223372036854775808' }, name: { S: 'Monstera' }, tag: { S: '' } };
  await engine.client.send(new PutItemCommand({ TableName: engine.plantsTable, Item }));
  expect(await get('-9223372036854775808')).toEqual({ name: 'Monstera', tag: '' });
});

test('an id without a plant is error 404, one that is no int64 error 400', async () => {
  expect(await get('404')).toEqual({ error: 404, message: 'There is no plant with the id 404.' });
  expect(await get('4.0')).toMatchObject({ error: 400 });
});
