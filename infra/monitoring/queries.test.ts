import { expect, test } from 'vitest';
import { accessLogMembers, requestLine } from '../../test/support/log-lines.ts';
import {
  functionOf,
  gatewayResponsesOf,
  propertiesOf,
  releaseOf,
  templateWith,
  twoOperations,
} from '../../test/support/stack.ts';

const template = templateWith({});

const FUNCTIONS = twoOperations.map((operation) => functionOf(template, operation).logGroup);
const HOOKS = twoOperations.map((operation) => releaseOf(template, operation).hook.LoggingConfig.LogGroup.Ref);
const ACCESS = Object.keys(propertiesOf(template, 'AWS::Logs::LogGroup')).filter((id) => id.startsWith('ApiAccessLog'));

const queries = Object.values(propertiesOf(template, 'AWS::Logs::QueryDefinition')).map(
  ({ Name, QueryString, LogGroupNames }) => ({
    name: Name.replace('PlantStore/', '') as string,
    query: QueryString as string,
    logGroups: LogGroupNames.map(({ Ref }: { Ref: string }) => Ref) as string[],
  }),
);

const queryOf = (name: string) => queries.find((query) => query.name === name)?.query ?? '';

test('the stack has the queries of the runbook, each on its logs', () => {
  expect(Object.fromEntries(queries.map(({ name, logGroups }) => [name, logGroups]))).toEqual({
    faults: [...FUNCTIONS, ...ACCESS],
    'one request (put its x-amz-apigw-id in)': [...FUNCTIONS, ...ACCESS],
    'pre-traffic checks': HOOKS,
    'errors by token': FUNCTIONS,
    'callers without a token': [...FUNCTIONS, ...ACCESS],
    'answers of the gateway': ACCESS,
    'cold starts': FUNCTIONS,
    'slowest requests': FUNCTIONS,
  });
});

/** The names of all members of a value, as in `message.cause.name`. */
function membersOf(value: unknown, prefix = ''): string[] {
  if (typeof value !== 'object' || value === null) return [prefix];
  return Object.entries(value).flatMap(([name, member]) =>
    membersOf(member, prefix === '' ? name : `${prefix}.${name}`),
  );
}

/** The fields that the lines of each kind of log have. CloudWatch adds those with `@`. */
const ADDED = ['@timestamp', '@log', '@message'];
const FIELDS: Record<string, string[]> = {
  functions: [
    ...membersOf(await requestLine('createPlant', 500)),
    // An error that the function did not catch, as Lambda's Node.js runtime logs it.
    ...['message.errorType', 'message.errorMessage'],
    // "Lambda Telemetry API Event schema reference", platform.report.
    ...['type', ...['initDurationMs', 'durationMs', 'maxMemoryUsedMB'].map((name) => `record.metrics.${name}`)],
  ],
  access: accessLogMembers(template),
  hooks: ['level', 'message'],
};

test.each(queries)('the query "$name" names only fields of its logs', ({ query, logGroups }) => {
  const kinds = Object.entries({ functions: FUNCTIONS, access: ACCESS, hooks: HOOKS });
  const has = kinds.flatMap(([kind, logs]) =>
    logs.some((log) => logGroups.includes(log)) ? (FIELDS[kind] ?? []) : [],
  );
  const aliases = [...query.matchAll(/ as (\w+)/g)].map(([, name]) => name);
  const keywords = 'fields filter stats sort limit as by asc desc and or not in like'.split(' ');
  const words = query.replaceAll(/"[^"]*"/g, '').match(/(?<![\w.@])[A-Za-z@][\w.@]*(?![\w.(])/g) ?? [];
  const fields = words.filter((word) => !keywords.includes(word) && !aliases.includes(word));
  expect(fields.length).toBeGreaterThan(0);
  expect(fields.filter((field) => ![...has, ...ADDED].includes(field))).toEqual([]);
});

test.each(queries)('the query "$name" has only commands of Logs Insights, in a valid order', ({ query }) => {
  const commands = query.split('\n').map((line) => line.replace(/^\| /, '').split(' ', 1)[0] ?? '');
  for (const command of commands) expect(['fields', 'filter', 'stats', 'sort', 'limit']).toContain(command);
  // "stats": at most two, and no sort or limit before the second.
  expect(commands.filter((command) => command === 'stats').length).toBeLessThanOrEqual(2);
  expect(commands.join(' ')).not.toMatch(/(sort|limit) .*stats/);
});

test.each(['faults', 'callers without a token'])(
  'the query "%s" joins two logs by the id that no client can choose',
  (name) => {
    expect(queryOf(name)).toContain('coalesce(message.extendedRequestId, extendedRequestId) as id');
  },
);

test.each(['faults', 'errors by token', 'slowest requests'])('the query "%s" tells the operations apart', (name) => {
  expect(queryOf(name)).toContain('message.operation');
});

test('the query "faults" has errors from 500 up, of the functions and of the gateway, and crashes', () => {
  const types = Object.entries(gatewayResponsesOf(template))
    .filter(([, { responseTemplates }]) => JSON.parse(responseTemplates['application/json']).error >= 500)
    .map(([type]) => type);
  expect(queryOf('faults')).toContain(
    `filter message.error >= 500 or level in ["ERROR", "FATAL"] or gatewayResponse in ${JSON.stringify(types)}\n`,
  );
});

test('the query "answers of the gateway" has every request that is for no operation', () => {
  const routes = twoOperations.map(({ method, path }) => `(method = "${method}" and resource = "${path}")`);
  expect(queryOf('answers of the gateway')).toContain(
    `filter gatewayResponse != "-" or not (${routes.join(' or ')})\n`,
  );
});
