import type { Caller } from '../caller.ts';
import { Taken } from './create-plant-rules.ts';
import type { Rule } from './rule.ts';

export interface Outcome {
  rule: string;
  /** `taken`: not checked, since different plants hold the ids that the rule needs. */
  state: 'ok' | 'failed' | 'taken';
  /** What was seen where the rule does not hold, or which ids are taken. */
  seen?: string;
}

/** What comes of each rule, checked one after the other, and of all together: that some plant can be created. */
export async function* outcomesOf(rules: Rule[], caller: Caller): AsyncGenerator<Outcome> {
  let created = false;
  for (const { rule, creates, check } of rules) {
    const seen = await check(caller).catch((error: Error) => error);
    if (seen) yield { rule, state: seen instanceof Taken ? 'taken' : 'failed', seen: seen.message };
    else yield { rule, state: 'ok' };
    created ||= creates === true && !seen;
  }
  // A service that answers error 409 to every plant must not pass for one whose ids are taken.
  if (!created && rules.some(({ creates }) => creates))
    yield { rule: 'some plant can be created', state: 'failed', seen: 'none could' };
}
