import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { type ErrorNumber, errors } from '../../functions/shared/errors.ts';
import { fieldOf, passes } from '../../test/support/log-filter.ts';
import { accessLine, answered, crash, type LogLine, report, stray, succeeded } from '../../test/support/log-lines.ts';
import {
  defaultTemplate,
  functionOf,
  gatewayResponsesOf,
  templateWith,
  withWaterPlant,
} from '../../test/support/stack.ts';
import { grantedOperations } from '../operations.ts';

const ACCESS_LOG = 'ApiAccessLog713001CC';
const errorNumbers = (Object.keys(errors).map(Number) as ErrorNumber[]).map((error) => ({ error }));

/** What a line of a log adds 1 to: the metrics with their dimensions, sorted. */
function countedFrom(template: Template, logGroup: string, line: LogLine): string[] {
  const filters = template.findResources('AWS::Logs::MetricFilter', {
    Properties: { LogGroupName: { Ref: logGroup } },
  });
  return Object.values(filters)
    .filter(({ Properties }) => passes(Properties.FilterPattern.replace(/^\{(.*)\}$/, '$1'), line))
    .map(({ Properties: { MetricTransformations } }) => {
      const [{ MetricName, Dimensions = [] }, ...others] = MetricTransformations;
      expect(others).toEqual([]);
      const values = Dimensions.map(({ Key, Value }: Dimension) => `${Key}=${fieldOf(line, Value)}`);
      return [MetricName, ...values].join(' ');
    })
    .toSorted();
}

interface Dimension {
  Key: string;
  Value: string;
}

describe.each([
  ['the contract', defaultTemplate(), grantedOperations()],
  ['two operations', templateWith({}, withWaterPlant()), withWaterPlant()],
])('of %s', (_what, template, operations) => {
  describe.each(operations)('$operationId', (operation) => {
    const { operationId } = operation;
    const { logGroup } = functionOf(template, operation);

    test('a request that succeeded is counted as that', async () => {
      expect(countedFrom(template, logGroup, await succeeded(operationId))).toEqual([
        `Succeeded operation=${operationId}`,
      ]);
    });

    test.each(errorNumbers)('a request that was answered error $error is counted by it', async ({ error }) => {
      // What alarms watch has no dimensions, so that CloudWatch adds up what all logs count.
      const watched = error >= 500 ? ['Faults'] : { 401: ['Unauthorized'], 429: ['Throttled'] }[error as number];
      expect(countedFrom(template, logGroup, await answered(operationId, error, '12'))).toEqual([
        `Errors operation=${operationId} error=${error}`,
        ...(watched ?? []),
        // For this alone a release goes back: to do so for 429, 503 and 504 would not mend the database.
        ...(error === 500 ? [`InternalErrors operation=${operationId} version=12`] : []),
      ]);
    });

    test('what is logged beside a request’s own line is not counted', async () => {
      for (const line of [await stray(operationId), crash(), report()]) {
        expect(countedFrom(template, logGroup, line)).toEqual([]);
      }
    });
  });

  const format = Object.values(template.findResources('AWS::ApiGateway::Stage'))[0]?.['Properties'].AccessLogSetting
    .Format;
  test.each(gatewayResponsesOf(template))(
    'the gateway’s own $type, error $error, is counted in the same metrics',
    (response) => {
      const { type, error } = response;
      const line = accessLine(format, { 'error.responseType': type });
      expect(countedFrom(template, ACCESS_LOG, line)).toEqual(
        error >= 500 ? ['Faults'] : error === 429 ? ['Throttled'] : [],
      );
    },
  );

  test('what a function answered is not counted at the gateway once more', () => {
    expect(countedFrom(template, ACCESS_LOG, accessLine(format, {}))).toEqual([]);
  });

  test('each count is 1 in the stack’s own namespace, and 0 where an alarm watches and nothing happens', () => {
    for (const { Properties } of Object.values(template.findResources('AWS::Logs::MetricFilter'))) {
      const [{ MetricNamespace, MetricValue, DefaultValue, Dimensions }] = Properties.MetricTransformations;
      expect({ MetricNamespace, MetricValue }).toEqual({ MetricNamespace: 'PlantStore', MetricValue: '1' });
      expect(DefaultValue).toBe(Dimensions ? undefined : 0);
    }
  });
});
