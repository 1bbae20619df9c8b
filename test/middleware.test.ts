import { describe, expect, test, vi } from 'vitest';
import { closedAtEnd } from './support/closed-at-end.ts';
import { startEngine } from './support/engine.ts';
import { contextWith, eventWith, importHandler } from './support/event.ts';
import { allOperations } from './support/stack.ts';

/* The middleware that each operation needs. Without it, the title of the failed test names what is missing. */

closedAtEnd(await startEngine());

describe.each(allOperations)('$operationId', async ({ operationId, folder }) => {
  vi.stubEnv('ALLOW_ORIGINS', 'https://a.example,https://b.example');
  const handler = await importHandler(folder);

  /** Sends a request without a token from a page of this origin. Returns the response and the lines of the log. */
  async function send(origin: string) {
    const log = vi.spyOn(console, 'info').mockReset().mockReturnValue();
    const response = await handler(eventWith({ headers: { Origin: origin } }), contextWith());
    return { response, lines: log.mock.calls.flat() };
  }

  test('has errorResponse and bearerAuth: an error is a response, and a request without a token is error 401', async () => {
    const { response } = await send('https://a.example');
    expect(response.statusCode).toBe(400);
    expect(JSON.parse(response.body)).toMatchObject({ error: 401 });
  });

  test('has requestLog, first: each error is a line of the log, which the alarms count', async () => {
    const { lines } = await send('https://a.example');
    expect(lines).toMatchObject([{ operation: operationId, outcome: 'rejected', error: 401, version: '7' }]);
    // Without a start before the other middleware, it would not be a number.
    expect(lines[0].durationMs).toBeGreaterThanOrEqual(0);
  });

  test.each([
    ['https://a.example', 'https://a.example'],
    ['https://b.example', 'https://b.example'],
    ['https://c.example', undefined],
  ])('has cors before errorResponse: a page of %s can read an error if it is allowed', async (origin, allowed) => {
    const { headers } = (await send(origin)).response;
    expect(headers?.['Access-Control-Allow-Origin']).toBe(allowed);
    expect(headers?.['Access-Control-Expose-Headers']).toMatch('x-amz-apigw-id');
  });
});
