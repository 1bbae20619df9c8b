import { expect, test } from 'vitest';
import { ERROR_NUMBERS } from '../../functions/shared/errors.ts';
import { accessLogMembers, requestLine } from '../../test/support/log-lines.ts';
import {
  allOperations,
  createPlant,
  functionOf,
  gatewayResponsesOf,
  propertiesOf,
  templateWith,
} from '../../test/support/stack.ts';

const template = templateWith({});

interface Dimension {
  Key: string;
  Value: string;
}

/** Returns the pattern and the dimensions of each metric of a log. */
function metricsOf(logGroup: string): Record<string, [pattern: string, ...dimensions: string[]]> {
  const filters = Object.values(propertiesOf(template, 'AWS::Logs::MetricFilter'));
  const ofLog = filters.filter(({ LogGroupName }) => LogGroupName.Ref === logGroup);
  return Object.fromEntries(
    ofLog.map(({ FilterPattern, MetricTransformations: [{ Dimensions = [], ...metric }] }) => {
      // A metric with dimensions cannot have a default value ("Creating metrics from log events using filters").
      const value = {
        MetricNamespace: 'PlantStore',
        MetricValue: '1',
        ...(Dimensions.length === 0 && { DefaultValue: 0 }),
      };
      expect(metric).toEqual({ MetricName: expect.any(String), ...value });
      return [metric.MetricName, [FilterPattern, ...Dimensions.map(({ Key, Value }: Dimension) => `${Key}=${Value}`)]];
    }),
  );
}

const metrics = metricsOf(functionOf(template, createPlant).logGroup);

test.each(allOperations)('counts the requests of $operationId from its log', (operation) => {
  const [byOperation, byError, byVersion] = ['operation', 'error', 'version'].map(
    (name) => `${name}=$.message.${name}`,
  );
  expect(metricsOf(functionOf(template, operation).logGroup)).toEqual({
    Succeeded: ['{ $.message.outcome = "succeeded" && $.message.operation = "*" }', byOperation],
    Errors: ['{ $.message.error > 0 && $.message.operation = "*" }', byOperation, byError],
    // Without dimensions, so that CloudWatch adds up all logs.
    Faults: ['{ $.message.error >= 500 }'],
    Throttled: ['{ $.message.error = 429 }'],
    Unauthorized: ['{ $.message.error = 401 }'],
    // Only error 500 rolls back a release: a rollback does not repair the database, which causes 429, 503 and 504.
    InternalErrors: [
      '{ $.message.error = 500 && $.message.operation = "*" && $.message.version = "*" }',
      byOperation,
      byVersion,
    ],
  });
});

test('counts the gateway responses from the access log', () => {
  const types = (matches: (error: number) => boolean) =>
    Object.entries(gatewayResponsesOf(template))
      .filter(([, { responseTemplates }]) => matches(JSON.parse(responseTemplates['application/json']).error))
      .map(([type]) => `$.gatewayResponse = "${type}"`)
      .join(' || ');
  const accessLog = Object.keys(propertiesOf(template, 'AWS::Logs::LogGroup')).find((id) => id.startsWith('ApiAccess'));
  expect(metricsOf(accessLog ?? '')).toEqual({
    Faults: [`{ ${types((error) => error >= 500)} }`],
    Throttled: [`{ ${types((error) => error === 429)} }`],
  });
  expect(accessLogMembers(template)).toContain('gatewayResponse');
});

/** Returns the value of a field such as `$.message.error` in a line. */
const fieldOf = (field: string, line: unknown) =>
  field
    .split('.')
    .slice(1)
    .reduce<unknown>((value, name) => Object(value)[name], line);

/** Evaluates a filter pattern that joins conditions with `&&`, as CloudWatch documents it. */
function matches(pattern: string, line: unknown): boolean {
  return pattern
    .slice(2, -2)
    .split(' && ')
    .every((condition) => {
      const [field = '', operator, operand = ''] = condition.split(' ');
      const [value, expected] = [fieldOf(field, line), JSON.parse(operand)];
      if (value === undefined) return false;
      if (operator === '=') return expected === '*' || value === expected;
      return operator === '>' ? Number(value) > expected : operator === '>=' && Number(value) >= expected;
    });
}

const FAULTS = { 500: ['Faults', 'InternalErrors'], 503: ['Faults'], 504: ['Faults'] };
const COUNTED: Record<number, string[]> = { 401: ['Unauthorized'], 429: ['Throttled'], ...FAULTS };

// Fails if functions/shared/middleware/request-log.ts changes a field that the patterns use.
test.each([undefined, ...ERROR_NUMBERS])('counts a request with error %s, with each dimension', async (error) => {
  const line = await requestLine('createPlant', error);
  const counted = Object.entries(metrics).filter(([, [pattern]]) => matches(pattern, line));
  const expected = error === undefined ? ['Succeeded'] : ['Errors', ...(COUNTED[error] ?? [])];
  expect(counted.map(([name]) => name).toSorted()).toEqual(expected.toSorted());
  const values: Record<string, unknown> = { operation: 'createPlant', version: '7', error };
  for (const [, [pattern, ...dimensions]] of counted) {
    for (const [name = '', field = ''] of dimensions.map((dimension: string) => dimension.split('='))) {
      expect(fieldOf(field, line)).toBe(values[name]);
      // Only a field of the pattern can be a dimension ("Filter pattern syntax for metric filters").
      expect(pattern).toContain(`${field} `);
    }
  }
});
