import { expect, test } from 'vitest';
import { accessLogMembers } from '../../test/support/log-lines.ts';
import {
  allOperations,
  functionOf,
  gatewayResponsesOf,
  propertiesOf,
  releaseOf,
  templateWith,
  textOf,
} from '../../test/support/stack.ts';

const template = templateWith({});

/** Returns the pattern of each metric of a log. */
function patternsOf(logGroup: string): Record<string, string> {
  const filters = Object.values(propertiesOf(template, 'AWS::Logs::MetricFilter'));
  const ofLog = filters.filter(({ LogGroupName }) => LogGroupName.Ref === logGroup);
  return Object.fromEntries(
    ofLog.map(({ FilterPattern, MetricTransformations: [{ MetricName, ...metric }] }) => {
      // Without dimensions, so that CloudWatch adds up all logs.
      expect(metric).toEqual({ MetricNamespace: 'PlantStore', MetricValue: '1', DefaultValue: 0 });
      return [textOf(MetricName), textOf(FilterPattern)];
    }),
  );
}

test.each(allOperations)('counts the errors of $operationId from its log', (operation) => {
  const version = `${releaseOf(template, operation).versionId}.Version`;
  expect(patternsOf(functionOf(template, operation).logGroup)).toEqual({
    Faults: '{ $.message.error >= 500 }',
    Throttled: '{ $.message.error = 429 }',
    Unauthorized: '{ $.message.error = 401 }',
    // Only error 500 rolls back a release: a rollback does not repair the database, which causes 429, 503 and 504.
    [`${operation.operationId}-InternalErrors-${version}`]: `{ $.message.error = 500 && $.message.version = "${version}" }`,
  });
});

test('counts the gateway responses from the access log', () => {
  const types = (matches: (error: number) => boolean) =>
    Object.entries(gatewayResponsesOf(template))
      .filter(([, { responseTemplates }]) => matches(JSON.parse(responseTemplates['application/json']).error))
      .map(([type]) => `$.gatewayResponse = "${type}"`)
      .join(' || ');
  const accessLog = Object.keys(propertiesOf(template, 'AWS::Logs::LogGroup')).find((id) => id.startsWith('ApiAccess'));
  expect(patternsOf(accessLog ?? '')).toEqual({
    Faults: `{ ${types((error) => error >= 500)} }`,
    Throttled: `{ ${types((error) => error === 429)} }`,
  });
  expect(accessLogMembers(template)).toContain('gatewayResponse');
});
