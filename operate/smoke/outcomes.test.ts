import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Caller, HttpCaller } from '../caller.ts';
import { Taken } from './create-plant-rules.ts';
import { outcomesOf } from './outcomes.ts';

test('each rule has its outcome, in their order; where some create plants, one of them must', async () => {
  const caller = new HttpCaller('http://a.example', 'token');
  const rule = fc.record({ state: fc.constantFrom('ok', 'failed', 'taken'), creates: fc.option(fc.boolean()) });
  await fc.assert(
    fc.asyncProperty(fc.array(rule, { maxLength: 5 }), async (all) => {
      const seen: Record<string, Error> = { failed: new Error('no'), taken: new Taken([7n]) };
      const rules = all.map(({ state, creates }, index) => ({
        rule: `rule ${index}`,
        ...(creates !== null && { creates }),
        check: async (by: Caller) => {
          expect(by).toBe(caller);
          if (seen[state]) throw seen[state];
        },
      }));
      const expected: unknown[] = all.map(({ state }, index) => ({
        rule: `rule ${index}`,
        state,
        ...(seen[state] && { seen: seen[state].message }),
      }));
      const creating = all.filter(({ creates }) => creates);
      if (creating.length > 0 && !creating.some(({ state }) => state === 'ok')) {
        expected.push({ rule: 'some plant can be created', state: 'failed', seen: 'none could' });
      }
      expect(await Array.fromAsync(outcomesOf(rules, caller))).toEqual(expected);
    }),
  );
});
