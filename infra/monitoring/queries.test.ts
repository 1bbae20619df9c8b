import { expect, test } from 'vitest';
import { allPropertiesOf, conditionsOf, idOf, templateWith } from '../../test/support/stack.ts';

const template = templateWith();
const logGroups = ['Function', 'Api'].map((name) => idOf(template, 'AWS::Logs::LogGroup', name));
// The only id that is in both logs, and that a client cannot choose.
const ID = 'coalesce(message.extendedRequestId, extendedRequestId) as id';

test.each([
  [
    'faults',
    `fields @timestamp, message.error, gatewayResponse, ${ID}, ` +
      'coalesce(message.fault.message, message.errorType, record.status) as fault, ' +
      'coalesce(message.fault.cause.cause.message, message.fault.cause.message, message.errorMessage, record.errorType) as cause',
    // Lambda's report of an invocation has record.status ("Lambda Telemetry API Event schema reference").
    'filter message.error >= 500 or level in ["ERROR", "FATAL"] or record.status in ["timeout", "error", "failure"] or ' +
      'gatewayResponse in ["API_CONFIGURATION_ERROR","DEFAULT_5XX","INTEGRATION_FAILURE","INTEGRATION_TIMEOUT"]',
    'sort @timestamp desc',
    'limit 100',
  ],
  [
    'requests by client',
    `fields ${ID}`,
    'filter ispresent(id)',
    'stats sortsLast(sourceIp) as address, sortsLast(message.tokenName) as token, max(message.error) as error, ' +
      'sortsLast(gatewayResponse) as fromGateway, sortsLast(resource) as path by id',
    'stats count(*) as requests by address, token, error, fromGateway, path',
    'sort requests desc',
    'limit 10000',
  ],
  [
    'requests of a token',
    'filter message.tokenName = "NAME" or ispresent(sourceIp)',
    `fields ${ID}`,
    'stats sortsLast(sourceIp) as address, count(message.tokenName) as uses, min(@timestamp) as sent by id',
    'filter uses > 0',
    'stats min(sent) as first, max(sent) as last, count(*) as requests by address',
    'sort first desc',
    // The largest one of CloudWatch: a thief can be the client with the fewest requests.
    'limit 10000',
  ],
])('the saved query "%s" reads both logs with these commands', (name, ...commands) => {
  const queries = Object.values(allPropertiesOf(template, 'AWS::Logs::QueryDefinition'));
  const { QueryString, ...query } = queries.find(({ Name }) => Name === `PlantStore/${name}`) ?? { QueryString: '' };
  expect(QueryString.split('\n| ').map(conditionsOf)).toEqual(commands.map(conditionsOf));
  expect(query).toEqual({ Name: `PlantStore/${name}`, LogGroupNames: logGroups });
});
