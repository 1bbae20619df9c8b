import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { defaultTemplate, functionOf, templateWith, withWaterPlant } from '../../test/support/stack.ts';
import { grantedOperations } from '../operations.ts';

const ACCESS_LOG = 'ApiAccessLog713001CC';

/** What the filters of a log count, by the metric that they count it in. */
function countedFrom(template: Template, logGroup: string) {
  const filters = template.findResources('AWS::Logs::MetricFilter', {
    Properties: { LogGroupName: { Ref: logGroup } },
  });
  const counted = Object.values(filters).map(({ Properties: { FilterPattern, MetricTransformations } }) => {
    const [{ MetricName, ...transformation }, ...others] = MetricTransformations;
    expect(others).toEqual([]);
    return [MetricName, { FilterPattern, ...transformation }];
  });
  expect(new Set(counted.map(([metric]) => metric)).size).toBe(counted.length);
  return Object.fromEntries(counted);
}

const one = { MetricNamespace: 'PlantStore', MetricValue: '1' };
const operation = { Key: 'operation', Value: '$.message.operation' };

describe.each([
  ['the contract', defaultTemplate(), grantedOperations()],
  ['two operations', templateWith({}, withWaterPlant()), withWaterPlant()],
])('of %s', (_what, template, operations) => {
  test.each(operations)(
    'the requests of $operationId are counted from its log, since every failure is a 400',
    (each) => {
      expect(countedFrom(template, functionOf(template, each).logGroup)).toEqual({
        Succeeded: { ...one, FilterPattern: '{ $.message.outcome = "succeeded" }', Dimensions: [operation] },
        Errors: {
          ...one,
          FilterPattern: '{ $.message.error > 0 }',
          Dimensions: [operation, { Key: 'error', Value: '$.message.error' }],
        },
        // What alarms watch has no dimensions, so that CloudWatch adds up what all logs count.
        Faults: { ...one, FilterPattern: '{ $.message.error >= 500 }', DefaultValue: 0 },
        Throttled: { ...one, FilterPattern: '{ $.message.error = 429 }', DefaultValue: 0 },
        Unauthorized: { ...one, FilterPattern: '{ $.message.error = 401 }', DefaultValue: 0 },
      });
    },
  );

  test('the answers that the gateway made itself are counted in the same metrics', () => {
    const { Faults, Throttled, ...others } = countedFrom(template, ACCESS_LOG);
    expect(others).toEqual({});
    for (const counted of [Faults, Throttled]) expect(counted).toMatchObject({ ...one, DefaultValue: 0 });
    expect(Faults).not.toHaveProperty('Dimensions');
    expect(Throttled).not.toHaveProperty('Dimensions');
    expect(Throttled.FilterPattern).toBe('{ $.gatewayResponse = "QUOTA_EXCEEDED" || $.gatewayResponse = "THROTTLED" }');
    for (const type of ['INTEGRATION_FAILURE', 'INTEGRATION_TIMEOUT', 'DEFAULT_5XX', 'API_CONFIGURATION_ERROR']) {
      expect(Faults.FilterPattern).toContain(`$.gatewayResponse = "${type}"`);
    }
    for (const type of ['THROTTLED', 'MISSING', 'DEFAULT_4XX']) expect(Faults.FilterPattern).not.toContain(type);
  });

  test('nothing else is counted', () => {
    template.resourceCountIs('AWS::Logs::MetricFilter', 5 * operations.length + 2);
  });
});
