import { expect, test } from 'vitest';
import { onlyOf, propertiesOf, templateWith, textOf } from '../../test/support/stack.ts';

const template = templateWith();
const queries = Object.values(propertiesOf(template, 'AWS::Logs::QueryDefinition'));
const textsOf = (name: string) => queries.find(({ Name }) => Name === `PlantStore/${name}`)?.QueryString;

test('each query reads both logs, whose fields it names', () => {
  const { DestinationArn, Format } = onlyOf(template, 'AWS::ApiGateway::Stage').AccessLogSetting;
  const { LogGroup } = onlyOf(template, 'AWS::Lambda::Function').LoggingConfig;
  const logGroups = [LogGroup.Ref, textOf(DestinationArn).split(':').at(-1)];
  expect(queries.map(({ LogGroupNames }) => LogGroupNames.map(textOf))).toEqual([logGroups, logGroups]);
  // The compiler compares the fields of the function's log.
  const ofAccessLog = ['extendedRequestId', 'sourceIp', 'resource', 'gatewayResponse'];
  expect(Object.keys(JSON.parse(Format))).toEqual(expect.arrayContaining(ofAccessLog));
});

test('the query "faults" finds errors, crashes and unfinished invocations, and shows the newest', () => {
  const faults = textsOf('faults');
  expect(faults).toContain(
    '\n| filter message.error >= 500 or level in ["ERROR", "FATAL"] or ' +
      'record.status in ["timeout", "error", "failure"] or gatewayResponse in ' +
      '["API_CONFIGURATION_ERROR","DEFAULT_5XX","INTEGRATION_FAILURE","INTEGRATION_TIMEOUT"]\n',
  );
  expect(faults).toContain('\n| sort @timestamp desc\n');
  // Lambda's report of an invocation ("Lambda Telemetry API Event schema reference").
  expect(faults).toContain('coalesce(message.fault.message, message.errorType, record.status) as fault');
  const causes =
    'message.fault.cause.cause.message, message.fault.cause.message, message.errorMessage, record.errorType';
  expect(faults).toContain(`coalesce(${causes}) as cause\n`);
});

test('the query "requests by client" joins both logs by the id that a client cannot choose', () => {
  const requests = textsOf('requests by client');
  expect(requests).toContain('coalesce(message.extendedRequestId, extendedRequestId) as id\n');
  expect(requests).toContain(
    '\n| stats sortsLast(sourceIp) as address, sortsLast(message.tokenName) as token, max(message.error) as error, ' +
      'sortsLast(gatewayResponse) as fromGateway, sortsLast(resource) as path by id\n',
  );
});
