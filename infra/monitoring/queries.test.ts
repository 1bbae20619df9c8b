import { expect, test } from 'vitest';
import { fieldOf, passes } from '../../test/support/log-filter.ts';
import {
  accessLine,
  answered,
  crash,
  extendedRequestId,
  type LogLine,
  report,
  succeeded,
} from '../../test/support/log-lines.ts';
import {
  functionOf,
  gatewayResponsesOf,
  releaseOf,
  templateWith,
  waterPlant,
  withWaterPlant,
} from '../../test/support/stack.ts';

const ACCESS_LOG = 'ApiAccessLog713001CC';

const template = templateWith({}, withWaterPlant());

const queries = Object.values(template.findResources('AWS::Logs::QueryDefinition')).map(({ Properties }) => ({
  name: Properties.Name,
  query: Properties.QueryString,
  logGroups: Properties.LogGroupNames.map(({ Ref }: { Ref: string }) => Ref),
}));

function named(name: string) {
  const found = queries.find((candidate) => candidate.name.startsWith(`PlantStore/${name}`));
  if (!found) throw new Error(`There is no query ${name}.`);
  return found;
}

test.each(queries)('the query $name is of commands that Logs Insights has, in an order that it takes', ({ query }) => {
  const commands = query.split('\n').map((line: string) => line.replace(/^\| /, '').split(' ', 1)[0]);
  for (const command of commands) expect(['fields', 'filter', 'stats', 'sort', 'limit']).toContain(command);
  // "stats": two at most, and no sort or limit before the second.
  expect(commands.filter((command: string) => command === 'stats').length).toBeLessThanOrEqual(2);
  expect(commands.join(' ')).not.toMatch(/(sort|limit) .*stats/);
});

test.each(queries)('the query $name goes by the id that no caller can choose, if by any', ({ query, logGroups }) => {
  expect(query).not.toMatch(/\brequestId\b/);
  if (/\bid\b/.test(query) && logGroups.includes(ACCESS_LOG) && logGroups.length > 1) {
    expect(query).toContain('coalesce(message.extendedRequestId, extendedRequestId) as id');
  }
});

test('one request is found by the header that its caller has of the gateway', () => {
  expect(queries.map(({ name }) => name)).toContain('PlantStore/one request (put its x-amz-apigw-id in)');
});

const stageOf = Object.values(template.findResources('AWS::ApiGateway::Stage'))[0]?.['Properties'];
const access = (values: Record<string, string>) => accessLine(stageOf.AccessLogSetting.Format, values);

const { operationId, method, path } = waterPlant;
const route = { httpMethod: method, resourcePath: path };

/** What stands in the logs of the functions. */
const functionLines: Record<string, LogLine> = {
  succeeded: await succeeded(operationId),
  crash: crash(),
  report: report(),
};
for (const error of [400, 401, 429, 500, 503] as const) functionLines[error] = await answered(operationId, error);

/** What stands in the log of a function that proves a release. */
const proofLines: Record<string, LogLine> = {
  failed: { level: 'ERROR', message: { check: 'a plant is a 200, and again', seen: '400' } },
  passed: { level: 'INFO', message: { operation: operationId, passed: 1 } },
  crash: crash(),
  report: report(),
};

/** What stands in the access log, the line of the same request as those of the function among it. */
const accessLines: Record<string, LogLine> = {
  ...Object.fromEntries(
    withWaterPlant().map(({ method, path }) => [
      `${method} ${path}`,
      access({ httpMethod: method, resourcePath: path }),
    ]),
  ),
  'same request': access({ ...route, extendedRequestId, 'identity.sourceIp': '192.0.2.1' }),
  // Of no REST API's operation.
  'no method': access({ ...route, httpMethod: 'TRACE' }),
  'no path': access({ ...route, resourcePath: '/{proxy+}' }),
  ...Object.fromEntries(
    gatewayResponsesOf(template).map(({ type }) => [type, access({ ...route, 'error.responseType': type })]),
  ),
};

const proofLogs = withWaterPlant().map(
  (operation) => releaseOf(template, operation).hook.LoggingConfig.LogGroup.Ref as string,
);

/** The lines that a query looks at, by their names. */
const linesOf = (logGroups: string[]): Record<string, LogLine> => ({
  ...(logGroups.some((logGroup) => logGroup !== ACCESS_LOG && !proofLogs.includes(logGroup)) && functionLines),
  ...(logGroups.some((logGroup) => proofLogs.includes(logGroup)) && proofLines),
  ...(logGroups.includes(ACCESS_LOG) && accessLines),
});

const KEYWORDS = 'fields filter stats sort limit as by asc desc and or not in like'.split(' ');

/** The fields of lines that a query names: no texts, functions, words of the language or names of its own. */
function fieldsOf(text: string): string[] {
  const own = [...text.matchAll(/ as (\w+)/g)].map(([, name]) => name);
  const names = text.replaceAll(/"[^"]*"/g, '').match(/(?<![\w.@])[A-Za-z@][\w.@]*(?!\w|\.|\()/g) ?? [];
  return names.filter((name) => !KEYWORDS.includes(name) && !own.includes(name));
}

test.each(queries)('the query $name names only fields that a line of its logs has', ({ query, logGroups }) => {
  const lines = Object.values(linesOf(logGroups));
  const fields = fieldsOf(query);
  expect(fields.length).toBeGreaterThan(0);
  const missing = fields.filter((field) => lines.every((line) => fieldOf(line, field) === undefined));
  // CloudWatch adds these two to every line ("Supported logs and discovered fields").
  expect(missing.filter((field) => !['@timestamp', '@log'].includes(field))).toEqual([]);
});

const NEWEST_HUNDRED = ['sort @timestamp desc', 'limit 100'];
const MOST_FIRST = ['sort requests desc'];

/** The query, the lines that it is about, and which of its results are shown first, and how many. */
const rows: [name: string, picked: string[], shown: string[]][] = [
  ['faults', ['500', '503', 'crash', ...gatewayResponses(({ error }) => error >= 500)], NEWEST_HUNDRED],
  [
    'one request',
    ['succeeded', '400', '401', '429', '500', '503', 'same request'],
    // As it went.
    ['sort @timestamp asc'],
  ],
  ['pre-traffic checks', ['failed', 'passed', 'crash'], ['sort @timestamp asc']],
  ['errors by token', ['400', '401', '429', '500', '503'], MOST_FIRST],
  ['callers without a token', ['401'], MOST_FIRST],
  ['answers of the gateway', ['no method', 'no path', ...gatewayResponses(() => true)], [...MOST_FIRST, 'limit 100']],
  ['cold starts', ['report'], []],
  ['slowest requests', ['succeeded', '400', '401', '429', '500', '503'], ['sort message.durationMs desc', 'limit 50']],
];

test('rows tell of each query what it is about', () => {
  expect(queries.map(({ name }) => name).toSorted()).toEqual(rows.map(([name]) => named(name).name).toSorted());
});

test.each(rows)('the query "%s" is about the lines %j, shown by %j', (name, picked, shown) => {
  const { query, logGroups } = named(name);
  const text = query.replace('REQUEST_ID', extendedRequestId);
  // A name that the query gives to the value of one field stands for the field.
  const own = new Map(
    [...text.matchAll(/\w+\(([\w.]+)\) as (\w+)/g)].map(([, field, alias]) => [alias, field] as const),
  );
  const filters = [...text.matchAll(/^(?:\| )?filter (.*)$/gm)].map(([, filter = '']) =>
    filter.replace(/^\w+(?= )/, (field: string) => own.get(field) ?? field),
  );
  expect(filters).toHaveLength(1);
  const passed = Object.entries(linesOf(logGroups)).filter(([, line]) => passes(filters[0] ?? '', line));
  expect(passed.map(([each]) => each).toSorted()).toEqual(picked.toSorted());
  const commands = text.split('\n').map((line: string) => line.replace(/^\| /, ''));
  expect(commands.filter((command: string) => /^(sort|limit) /.test(command))).toEqual(shown);
});

test('a percentile is named after its number', () => {
  const percentiles = queries.flatMap(({ query }) => query.match(/pct\([^)]*\) as \w+/g) ?? []);
  expect(percentiles).not.toEqual([]);
  for (const percentile of percentiles) expect(percentile).toMatch(/, (\d+)\) as \w+P\1$/);
});

function gatewayResponses(matches: (response: { error: number }) => boolean): string[] {
  return gatewayResponsesOf(template)
    .filter(matches)
    .map(({ type }) => type);
}

test('a query asks the logs of all functions, the access log, or both, or those of all pre-traffic checks', () => {
  const ofFunctions = withWaterPlant().map((operation) => functionOf(template, operation).logGroup);
  const logs = [ofFunctions, [ACCESS_LOG], [...ofFunctions, ACCESS_LOG], proofLogs];
  for (const { name, logGroups } of queries) expect(logs, name).toContainEqual(logGroups);
  expect(queries.filter(({ logGroups }) => logGroups.includes(ofFunctions[1])).length).toBeGreaterThan(5);
});

test.each(['faults', 'errors by token', 'slowest requests'])('the query "%s" tells the operations apart', (name) => {
  expect(named(name).query).toContain('message.operation');
});
