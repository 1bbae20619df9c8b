import middy from '@middy/core';
import { vi } from 'vitest';
import { type ErrorNumber, PlantStoreError } from '../../functions/errors.ts';
import { requestLog } from '../../functions/middleware/request-log.ts';
import { contextWith, eventWith } from './event.ts';

/** The line, in Lambda's JSON log format, that a function logs for a request that succeeds or fails with `error`. */
export async function requestLine(error?: ErrorNumber) {
  const isFault = error !== undefined && error >= 500;
  const level = isFault ? 'error' : 'info';
  const spy = vi.spyOn(console, level).mockReturnValue();
  const cause = new Error('outer', { cause: new Error('inner') });
  await middy()
    .use(requestLog())
    .before(({ internal }) => void Object.assign(internal, { tokenName: 'ci' }))
    .handler(async () => {
      if (error !== undefined) throw new PlantStoreError(error, 'no', isFault ? { cause } : {});
      return { statusCode: 200 };
    })(eventWith(), contextWith())
    .catch(() => undefined);
  const message = spy.mock.lastCall?.[0];
  spy.mockRestore();
  return JSON.parse(JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', level: level.toUpperCase(), message }));
}
