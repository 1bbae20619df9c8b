import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Caller } from '../caller.ts';
import { Taken } from './create-plant-rules.ts';
import { outcomesOf } from './outcomes.ts';

test('each rule has its outcome, in their order; none is sound where no plant can be created', async () => {
  const caller = new Caller('http://a.example', 'token');
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
      if (!all.some(({ state, creates }) => state === 'ok' && creates)) {
        expected.push({ rule: 'some plant can be created', state: 'failed', seen: 'none could' });
      }
      expect(await Array.fromAsync(outcomesOf(rules, caller))).toEqual(expected);
    }),
  );
});
