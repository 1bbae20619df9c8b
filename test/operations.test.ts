import { expect, test, vi } from 'vitest';
import { readOperations } from '../infra/contract.ts';
import { closedAtEnd } from './support/closed-at-end.ts';
import { startEngine } from './support/engine.ts';
import { contextWith, eventWith, importHandler } from './support/event.ts';

/* What each operation must have, and what to add if it does not. */

closedAtEnd(await startEngine());

test.each(readOperations())('pages of the allowed origins can read an error of $operationId', async ({ folder }) => {
  vi.spyOn(console, 'info').mockReturnValue();
  vi.stubEnv('ALLOW_ORIGINS', 'https://a.example,https://b.example');
  const handler = await importHandler(folder);
  const advice = `Add .use(cors()) to functions/${folder}/index.ts, before .use(errorResponse()).`;
  for (const [origin, allowed] of [
    ['https://a.example', 'https://a.example'],
    ['https://b.example', 'https://b.example'],
    ['https://c.example', undefined],
  ]) {
    const { headers } = await handler(eventWith({ headers: { Origin: origin } }), contextWith());
    expect(headers?.['Access-Control-Allow-Origin'], advice).toBe(allowed);
    expect(headers?.['Access-Control-Expose-Headers'], advice).toContain('x-amz-apigw-id');
  }
});
