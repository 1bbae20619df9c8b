import { expect, test } from 'vitest';
import * as limits from './time-limits.ts';

const { FUNCTION_TIMEOUT_MS: ofFunction, RESPONSE_RESERVE_MS: reserved } = limits;

test.each([
  // "Quotas for configuring and running a REST API in API Gateway": 29 s.
  ['a request', [limits.ATTEMPT_IDLE_TIMEOUT_MS, ofFunction - reserved, ofFunction, 29_000]],
  ['a request with a JWT', [limits.PROVIDER_KEYS_TIMEOUT_MS, ofFunction - reserved]],
  // "Understanding the Lambda execution environment lifecycle": 10 s.
  ['init', [Math.max(limits.PRIMING_TIMEOUT_MS, limits.PROVIDER_KEYS_TIMEOUT_MS), 10_000]],
])('in %s, each limit is longer than what it contains: %j', (_, times) => {
  expect(times.filter((time, index) => time <= (times[index - 1] ?? 0))).toEqual([]);
});
