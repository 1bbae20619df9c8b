import { expect, test } from 'vitest';
import { functionOf, templateWith, withWaterPlant } from '../../test/support/stack.ts';

const template = templateWith({}, withWaterPlant());

const queries = Object.values(template.findResources('AWS::Logs::QueryDefinition')).map(({ Properties }) => ({
  name: Properties.Name,
  query: Properties.QueryString,
  logGroups: Properties.LogGroupNames.map(({ Ref }: { Ref: string }) => Ref),
}));
const query = (name: string) => queries.find((candidate) => candidate.name.startsWith(`PlantStore/${name}`))?.query;

test.each(queries)('the query $name is of commands that Logs Insights has, in an order that it takes', ({ query }) => {
  const commands = query.split('\n').map((line: string) => line.replace(/^\| /, '').split(' ', 1)[0]);
  for (const command of commands) expect(['fields', 'filter', 'stats', 'sort', 'limit']).toContain(command);
  // "stats": two at most, and no sort or limit before the second.
  expect(commands.filter((command: string) => command === 'stats').length).toBeLessThanOrEqual(2);
  expect(commands.join(' ')).not.toMatch(/(sort|limit) .*stats/);
});

test.each(queries)('the query $name goes by the id that no caller can choose, if by any', ({ query, logGroups }) => {
  expect(query).not.toMatch(/\brequestId\b/);
  if (/\bid\b/.test(query) && logGroups.includes('ApiAccessLog713001CC') && logGroups.length > 1) {
    expect(query).toContain('coalesce(message.extendedRequestId, extendedRequestId) as id');
  }
});

test('one request is found by the header that its caller has of the gateway', () => {
  expect(queries.map(({ name }) => name)).toContain('PlantStore/one request (put its x-amz-apigw-id in)');
});

test('the query "faults" shows each kind of gateway response that the alarm Faults counts', () => {
  const filters = Object.values(template.findResources('AWS::Logs::MetricFilter'));
  const counted = filters.find(
    ({ Properties: { FilterPattern, MetricTransformations } }) =>
      MetricTransformations[0].MetricName === 'Faults' && FilterPattern.includes('gatewayResponse'),
  );
  const types = counted?.['Properties'].FilterPattern.match(/[A-Z_0-9]{3,}/g);
  expect(types.length).toBeGreaterThan(0);
  expect(query('faults')).toContain(`gatewayResponse in ${JSON.stringify(types)}`);
});

test('the query "answers of the gateway" leaves out exactly the routes with a function behind them', () => {
  const routes = withWaterPlant().map(({ method, path }) => `(method = "${method}" and resource = "${path}")`);
  expect(query('answers of the gateway')).toContain(`filter gatewayResponse != "-" or not (${routes.join(' or ')})\n`);
});

test('a query asks the logs of all functions, the access log, or both', () => {
  const ofFunctions = withWaterPlant().map((operation) => functionOf(template, operation).logGroup);
  const logs = [ofFunctions, ['ApiAccessLog713001CC'], [...ofFunctions, 'ApiAccessLog713001CC']];
  for (const { name, logGroups } of queries) expect(logs, name).toContainEqual(logGroups);
  expect(queries.filter(({ logGroups }) => logGroups.includes(ofFunctions[1])).length).toBeGreaterThan(5);
});

test.each(['faults', 'errors by token', 'slowest requests'])('the query "%s" tells the operations apart', (name) => {
  expect(query(name)).toContain('message.operation');
});
