import { expect, test } from 'vitest';
import type { Answer } from '../caller.ts';
import { mustBe, namedIn, shown } from './rule.ts';

const headers = { 'x-amz-apigw-id': 'id' };
const refusal = (message: string): Answer => ({ status: 400, error: 400, message, headers });

test('of an answer what it says is shown, not at length, and without its headers', () => {
  expect(shown(refusal('x'))).toBe('{"status":400,"error":400,"message":"x"}');
  expect(shown(refusal('x'.repeat(1000)))).toHaveLength(300);
});

test('what an answer must be is compared whole, but for an error’s message', () => {
  const plant: Answer = { status: 200, plant: { name: 'x', tag: 'y' }, headers };
  expect(() => mustBe(plant, { status: 200, plant: { name: 'x', tag: 'y' } })).not.toThrow();
  expect(() => mustBe(refusal('any'), { status: 400, error: 400 })).not.toThrow();
  expect(() => mustBe(plant, { status: 200, plant: { name: 'x' } })).toThrow(
    '{"status":200,"plant":{"name":"x","tag":"y"}}; it must be {"status":200,"plant":{"name":"x"}}',
  );
  expect(() => mustBe(refusal('any'), { status: 400, error: 401 })).toThrow('; it must be {"status":400,"error":401}');
  expect(() => mustBe(plant, { status: 400, error: 400 })).toThrow('; it must be {"status":400,"error":400}');
});

test.each([
  ['id must be a number', true],
  ['the id, and name', true],
  ['it must be valid', false],
  ['ids must be numbers', false],
])('the message "%s" names id: %s', (message, names) => {
  expect(namedIn(refusal(message), 'id')).toBe(names);
});
