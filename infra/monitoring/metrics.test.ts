import { expect, test } from 'vitest';
import { onlyIdOf, onlyOf, propertiesOf, templateWith, textOf } from '../../test/support/stack.ts';

const template = templateWith();

/** Returns the pattern of each metric of a log. */
function patternsOf(logGroup: string): Record<string, string> {
  const filters = Object.values(propertiesOf(template, 'AWS::Logs::MetricFilter'));
  const ofLog = filters.filter(({ LogGroupName }) => LogGroupName.Ref === logGroup);
  return Object.fromEntries(
    ofLog.map(({ FilterPattern, MetricTransformations: [{ MetricName, ...metric }] }) => {
      // Without dimensions, so that CloudWatch adds up both logs.
      expect(metric).toEqual({ MetricNamespace: 'PlantStore', MetricValue: '1', DefaultValue: 0 });
      return [textOf(MetricName), textOf(FilterPattern)];
    }),
  );
}

test('counts the errors of the function from its log', () => {
  const version = `${onlyIdOf(template, 'AWS::Lambda::Version')}.Version`;
  expect(patternsOf(onlyOf(template, 'AWS::Lambda::Function').LoggingConfig.LogGroup.Ref)).toEqual({
    Faults: '{ $.message.error >= 500 }',
    Throttled: '{ $.message.error = 429 }',
    Unauthorized: '{ $.message.error = 401 }',
    // Only error 500 rolls back a release: a rollback does not repair the database, which causes 429, 503 and 504.
    [`InternalErrors-${version}`]: `{ $.message.error = 500 && $.message.version = "${version}" }`,
  });
});

test('counts the errors of API Gateway from the access log', () => {
  const { DestinationArn, Format } = onlyOf(template, 'AWS::ApiGateway::Stage').AccessLogSetting;
  expect(patternsOf(textOf(DestinationArn).split(':').at(-1) ?? '')).toEqual({
    Faults:
      '{ $.gatewayResponse = "API_CONFIGURATION_ERROR" || $.gatewayResponse = "DEFAULT_5XX" || ' +
      '$.gatewayResponse = "INTEGRATION_FAILURE" || $.gatewayResponse = "INTEGRATION_TIMEOUT" }',
    Throttled: '{ $.gatewayResponse = "THROTTLED" || $.gatewayResponse = "WAF_FILTERED" }',
  });
  expect(JSON.parse(Format)).toMatchObject({ gatewayResponse: '$context.error.responseType' });
});
