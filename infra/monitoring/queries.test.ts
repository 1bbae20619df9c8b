import { expect, test } from 'vitest';
import type { LoggedError, RequestLine } from '../../functions/middleware/request-log.ts';
import { onlyOf, propertiesOf, templateWith, textOf } from '../../test/support/stack.ts';

const template = templateWith();
const queries = Object.values(propertiesOf(template, 'AWS::Logs::QueryDefinition'));
const textsOf = (name: string) => queries.find(({ Name }) => Name === `PlantStore/${name}`)?.QueryString;

/** A line of the function's log. The compiler compares it with what the function logs. */
const error = (cause: LoggedError) => ({ name: 'Error', message: 'm', stack: 's', cause });
const message: Required<RequestLine> = {
  operation: 'createPlant',
  version: '7',
  outcome: 'failed',
  error: 503,
  extendedRequestId: 'id',
  tokenName: 'ci',
  durationMs: 1,
  fault: error(error(error(undefined))),
};

/** Returns the paths of all members of a value, such as `message.fault.name`. */
function memberPaths(value: unknown, prefix = ''): string[] {
  if (typeof value !== 'object' || value === null) return [prefix];
  return Object.entries(value).flatMap(([name, member]) =>
    memberPaths(member, prefix === '' ? name : `${prefix}.${name}`),
  );
}

const { DestinationArn, Format } = onlyOf(template, 'AWS::ApiGateway::Stage').AccessLogSetting;
const known = [
  ...memberPaths({ level: 'ERROR', message }),
  // Uncaught errors, which the Node.js runtime of Lambda logs.
  ...['message.errorType', 'message.errorMessage'],
  // The report of an invocation ("Lambda Telemetry API Event schema reference").
  ...['record.status', 'record.errorType'],
  ...Object.keys(JSON.parse(Format)),
];

test.each(queries)('the query "$Name" uses only fields that its two logs have', ({ QueryString, LogGroupNames }) => {
  const { LogGroup } = onlyOf(template, 'AWS::Lambda::Function').LoggingConfig;
  expect(LogGroupNames.map(textOf)).toEqual([LogGroup.Ref, textOf(DestinationArn).split(':').at(-1)]);
  const fields: string[] =
    QueryString.match(/\b((?:message|record)\.[\w.]+|gatewayResponse|sourceIp|resource|extendedRequestId|level)\b/g) ??
    [];
  expect(fields.length).toBeGreaterThan(0);
  expect(fields.filter((field) => !known.includes(field))).toEqual([]);
});

test('the query "faults" finds errors, crashes and unfinished invocations, and shows the newest', () => {
  const faults = textsOf('faults');
  expect(faults).toContain(
    '\n| filter message.error >= 500 or level in ["ERROR", "FATAL"] or ' +
      'record.status in ["timeout", "error", "failure"] or gatewayResponse in ' +
      '["API_CONFIGURATION_ERROR","DEFAULT_5XX","INTEGRATION_FAILURE","INTEGRATION_TIMEOUT"]\n',
  );
  expect(faults).toContain('\n| sort @timestamp desc\n');
  expect(faults).toMatch(/^fields .*record\.status.* as fault, .*record\.errorType.* as cause$/m);
});

test('the query "requests by client" joins both logs by the id that a client cannot choose', () => {
  const requests = textsOf('requests by client');
  expect(requests).toContain('coalesce(message.extendedRequestId, extendedRequestId) as id\n');
  expect(requests).toContain(
    '\n| stats sortsLast(sourceIp) as address, sortsLast(message.tokenName) as token, max(message.error) as error, ' +
      'sortsLast(gatewayResponse) as fromGateway, sortsLast(resource) as path by id\n',
  );
});
