import { expect, test } from 'vitest';
import { ERROR_NUMBERS } from '../../functions/shared/errors.ts';
import { accessLogMembers, requestLine } from '../../test/support/log-lines.ts';
import { functionOf, gatewayResponsesOf, propertiesOf, templateWith, twoOperations } from '../../test/support/stack.ts';

const template = templateWith({});

interface Dimension {
  Key: string;
  Value: string;
}

/** Returns the pattern and the dimensions of each metric of a log. */
function metricsOf(logGroup: string) {
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

test.each(twoOperations)('counts the requests of $operationId from its log', (operation) => {
  expect(metricsOf(functionOf(template, operation).logGroup)).toEqual({
    Succeeded: ['{ $.message.outcome = "succeeded" }', 'operation=$.message.operation'],
    Errors: ['{ $.message.error > 0 }', 'operation=$.message.operation', 'error=$.message.error'],
    // Without dimensions, so that CloudWatch adds up all logs.
    Faults: ['{ $.message.error >= 500 }'],
    Throttled: ['{ $.message.error = 429 }'],
    Unauthorized: ['{ $.message.error = 401 }'],
    // Only error 500 rolls back a release: a rollback does not repair the database, which causes 429, 503 and 504.
    InternalErrors: ['{ $.message.error = 500 }', 'operation=$.message.operation', 'version=$.message.version'],
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

// Fails if functions/shared/middleware/request-log.ts changes a field that the patterns above use.
test('functions log the fields that the patterns use', async () => {
  const operation = 'createPlant';
  const succeeded = await requestLine(operation);
  expect(succeeded.message).toMatchObject({ outcome: 'succeeded', operation, version: '7' });
  expect(succeeded.message).not.toHaveProperty('error');
  for (const error of ERROR_NUMBERS) {
    const { message } = await requestLine(operation, error);
    expect(message).toMatchObject({ error, outcome: expect.not.stringMatching('succeeded'), operation, version: '7' });
  }
});
