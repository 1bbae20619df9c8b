import { expect, test } from 'vitest';
import { type ErrorNumber, errors } from '../../functions/shared/errors.ts';
import { accessLogMembers, requestLine } from '../../test/support/log-lines.ts';
import { functionOf, gatewayResponsesOf, propertiesOf, templateWith, twoOperations } from '../../test/support/stack.ts';

const template = templateWith({});

interface Dimension {
  Key: string;
  Value: string;
}

/** The metrics that are counted from a log, each with its pattern and its dimensions. */
function metricsOf(logGroup: string) {
  const filters = Object.values(propertiesOf(template, 'AWS::Logs::MetricFilter'));
  const ofLog = filters.filter(({ LogGroupName }) => LogGroupName.Ref === logGroup);
  return Object.fromEntries(
    ofLog.map(({ FilterPattern, MetricTransformations: [{ Dimensions = [], ...metric }] }) => {
      // With dimensions there can be no default ("Creating metrics from log events using filters").
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

test.each(twoOperations)('the requests of $operationId are counted from its log', (operation) => {
  expect(metricsOf(functionOf(template, operation).logGroup)).toEqual({
    Succeeded: ['{ $.message.outcome = "succeeded" }', 'operation=$.message.operation'],
    Errors: ['{ $.message.error > 0 }', 'operation=$.message.operation', 'error=$.message.error'],
    // Without dimensions, so that CloudWatch adds up the counts of all logs.
    Faults: ['{ $.message.error >= 500 }'],
    Throttled: ['{ $.message.error = 429 }'],
    Unauthorized: ['{ $.message.error = 401 }'],
    // Only error 500 rolls a release back. A rollback does not repair the database, which causes 429, 503 and 504.
    InternalErrors: ['{ $.message.error = 500 }', 'operation=$.message.operation', 'version=$.message.version'],
  });
});

test('the gateway’s own responses are counted by their type', () => {
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

// The patterns above match these lines: the field names and values are those of functions/shared/request-log.ts.
test('a function logs the fields that the patterns name', async () => {
  const operation = 'createPlant';
  const succeeded = await requestLine(operation);
  expect(succeeded.message).toMatchObject({ outcome: 'succeeded', operation, version: '7' });
  expect(succeeded.message).not.toHaveProperty('error');
  for (const error of Object.keys(errors).map(Number) as ErrorNumber[]) {
    const { message } = await requestLine(operation, error);
    expect(message).toMatchObject({ error, outcome: expect.not.stringMatching('succeeded'), operation, version: '7' });
  }
});
