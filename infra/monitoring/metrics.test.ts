import { expect, test } from 'vitest';
import { allPropertiesOf, conditionsOf, idOf, templateWith } from '../../test/support/stack.ts';

const template = templateWith();

/** Returns the conditions of each metric of a log. */
function metricsOf(logGroup: string) {
  const filters = Object.values(allPropertiesOf(template, 'AWS::Logs::MetricFilter'));
  const ofLog = filters.filter(({ LogGroupName }) => LogGroupName.startsWith(logGroup));
  return Object.fromEntries(
    ofLog.map(({ FilterPattern, MetricTransformations: [{ MetricName, ...metric }, ...others] }) => {
      // Without dimensions, so that CloudWatch adds up both logs.
      expect([metric, ...others]).toEqual([{ MetricNamespace: 'PlantStore', MetricValue: '1', DefaultValue: 0 }]);
      return [MetricName, conditionsOf(FilterPattern.replace(/^{ (.*) }$/, '$1'))];
    }),
  );
}

test('the metrics count the errors of the function from its log', () => {
  const version = `${idOf(template, 'AWS::Lambda::Version')}.Version`;
  expect(metricsOf('Function')).toEqual({
    Faults: conditionsOf('$.message.error >= 500'),
    Throttled: conditionsOf('$.message.error = 429'),
    Unauthorized: conditionsOf('$.message.error = 401'),
    // Only error 500 rolls back a release: a rollback does not repair the database, which causes 429, 503 and 504.
    [`InternalErrors-${version}`]: conditionsOf(`$.message.error = 500 && $.message.version = "${version}"`),
  });
});

test('the metrics count the errors of API Gateway from the access log', () => {
  const anyOf = (...types: string[]) => conditionsOf(types.map((type) => `$.gatewayResponse = "${type}"`).join(' || '));
  expect(metricsOf('Api')).toEqual({
    Faults: anyOf('API_CONFIGURATION_ERROR', 'DEFAULT_5XX', 'INTEGRATION_FAILURE', 'INTEGRATION_TIMEOUT'),
    Throttled: anyOf('THROTTLED', 'WAF_FILTERED'),
  });
});
