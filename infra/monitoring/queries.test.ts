import { expect, test } from 'vitest';
import { accessLogMembers, requestLine } from '../../test/support/log-lines.ts';
import { functionOf, propertiesOf, releaseOf, templateWith, twoOperations } from '../../test/support/stack.ts';

const template = templateWith({});

const queries = Object.values(propertiesOf(template, 'AWS::Logs::QueryDefinition')).map(
  ({ Name, QueryString, LogGroupNames }) => ({
    name: Name.replace('PlantStore/', '') as string,
    query: QueryString as string,
    logGroups: LogGroupNames.map(({ Ref }: { Ref: string }) => Ref) as string[],
  }),
);

/** The names of all members of a value, as in `message.cause.name`. */
function membersOf(value: unknown, prefix = ''): string[] {
  if (typeof value !== 'object' || value === null) return [prefix];
  return Object.entries(value).flatMap(([name, member]) =>
    membersOf(member, prefix === '' ? name : `${prefix}.${name}`),
  );
}

const functionFields = [
  ...membersOf(await requestLine('createPlant', 500)),
  // An error that the function did not catch, as Lambda's Node.js runtime logs it.
  ...['message.errorType', 'message.errorMessage'],
  // "Lambda Telemetry API Event schema reference", platform.report.
  ...['type', ...['initDurationMs', 'durationMs', 'maxMemoryUsedMB'].map((name) => `record.metrics.${name}`)],
];

/** The fields of each log's lines. */
const fieldsOf: Record<string, string[]> = Object.fromEntries([
  ...twoOperations.map((operation) => [functionOf(template, operation).logGroup, functionFields]),
  ...twoOperations.map((operation) => [releaseOf(template, operation).hook.LoggingConfig.LogGroup.Ref, ['level']]),
  ...Object.keys(propertiesOf(template, 'AWS::Logs::LogGroup'))
    .filter((id) => id.startsWith('ApiAccessLog'))
    .map((id) => [id, accessLogMembers(template)]),
]);

test.each(queries)('the query "$name" names only fields of its logs', ({ query, logGroups }) => {
  // CloudWatch adds those with `@`.
  const has = ['@timestamp', '@log', '@message', ...logGroups.flatMap((logGroup) => fieldsOf[logGroup] ?? [])];
  const aliases = [...query.matchAll(/ as (\w+)/g)].map(([, name]) => name);
  const keywords = 'fields filter stats sort limit as by asc desc and or not in like'.split(' ');
  const words = query.replaceAll(/"[^"]*"/g, '').match(/(?<![\w.@])[A-Za-z@][\w.@]*(?![\w.(])/g) ?? [];
  const fields = words.filter((word) => !keywords.includes(word) && !aliases.includes(word));
  expect(fields.length).toBeGreaterThan(0);
  expect(fields.filter((field) => !has.includes(field))).toEqual([]);
});

test.each(queries)('the query "$name" has only commands of Logs Insights, in a valid order', ({ query }) => {
  const commands = query.split('\n').map((line) => line.replace(/^\| /, '').split(' ', 1)[0] ?? '');
  for (const command of commands) expect(['fields', 'filter', 'stats', 'sort', 'limit']).toContain(command);
  // "stats": at most two, and no sort or limit before the second.
  expect(commands.filter((command) => command === 'stats').length).toBeLessThanOrEqual(2);
  expect(commands.join(' ')).not.toMatch(/(sort|limit) .*stats/);
});

test('the query "answers of the gateway" has every request that is for no operation', () => {
  const routes = twoOperations.map(({ method, path }) => `(method = "${method}" and resource = "${path}")`);
  expect(queries.find(({ name }) => name === 'answers of the gateway')?.query).toContain(
    `filter gatewayResponse != "-" or not (${routes.join(' or ')})\n`,
  );
});
