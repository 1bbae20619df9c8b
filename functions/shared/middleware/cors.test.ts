import { expect, test, vi } from 'vitest';
import { closedAtEnd } from '../../../test/support/closed-at-end.ts';
import { startEngine } from '../../../test/support/engine.ts';
import { contextWith, eventWith, importHandler } from '../../../test/support/event.ts';
import { allOperations } from '../../../test/support/stack.ts';

closedAtEnd(await startEngine());

test.each(allOperations)('pages of the allowed origins can read an error of $operationId', async ({ folder }) => {
  vi.spyOn(console, 'info').mockReturnValue();
  vi.stubEnv('ALLOW_ORIGINS', 'https://a.example,https://b.example');
  const handler = await importHandler(folder);
  const advice = `Add .use(cors()) to ${folder}/index.ts, before .use(errorResponse()).`;
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
