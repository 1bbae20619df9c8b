import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, expect, test, vi } from 'vitest';
import { UNKNOWN_TOKEN } from '../../functions/tokens/token.ts';
import { type Plan, startFailureProxy } from '../../test/support/dynamodb-proxy.ts';
import { startEngine } from '../../test/support/engine.ts';
import { contextWith, eventWith, importHandler } from '../../test/support/event.ts';
import { templateWith } from '../../test/support/stack.ts';

/* Which metrics count a fault: the patterns of the stack are applied to what the function logs. */

const engine = await startEngine();
const proxy = await startFailureProxy(engine.endpoint);
const lines: unknown[] = [];
for (const level of ['info', 'error'] as const) vi.spyOn(console, level).mockImplementation((line) => lines.push(line));
// Without a wait between two attempts.
vi.spyOn(Math, 'random').mockReturnValue(0);
afterEach(() => {
  vi.unstubAllEnvs();
  proxy.plan();
  lines.length = 0;
});

const template = templateWith({ alarms: { hourlySmokeTest: true } });
const { LogGroup, ...logFormat } = template.propertiesOf('AWS::Lambda::Function').LoggingConfig;
// A deployment creates the version. Here it is that of `contextWith`.
const filtersText = JSON.stringify(template.allPropertiesOf('AWS::Logs::MetricFilter'));
const filters: ReturnType<typeof template.allPropertiesOf> = JSON.parse(
  filtersText.replaceAll(/\${FunctionCurrentVersion\w+\.Version}/g, '7'),
);

/** Evaluates a condition, such as `$.message.error >= 500`, or `$.a = "text"` without the wildcard `*`. */
function isMet(condition: string, event: object): boolean {
  const [, path, operator, operand = ''] = /^\$\.([\w.]+) (=|>=) ("[^"*]+"|\d+)$/.exec(condition) ?? [];
  if (path === undefined) throw new Error(`This test does not know the condition ${condition}`);
  const value: unknown = path.split('.').reduce((outer, name) => Object(outer)[name], event);
  const expected = JSON.parse(operand);
  return operator === '=' ? value === expected : typeof value === 'number' && value >= expected;
}

/** Returns the metrics that count an event of a log ("Using filter patterns to match terms in JSON log events"). */
function metricsOf(log: string, event: object): string[] {
  const counting = filters.filter(({ LogGroupName, FilterPattern }) => {
    const [, pattern = ''] = /^{ (.+) }$/.exec(FilterPattern) ?? [];
    // `&&` takes precedence.
    const parts = pattern.split(' || ').map((part) => part.split(' && '));
    return log.endsWith(LogGroupName) && parts.some((part) => part.every((condition) => isMet(condition, event)));
  });
  return counting.map(({ MetricTransformations: [{ MetricName }] }) => MetricName).sort();
}

interface Fault extends Partial<APIGatewayProxyEvent> {
  plan?: Plan;
  remainingMs?: number;
  variables?: Record<string, string>;
}
const fails = (call: string, failure: Plan['failure']): Fault => ({ plan: { call, failure } });
const READ = `GetItem ${engine.accessTokensTable}`;
const WRITE = `PutItem ${engine.plantsTable}`;

test.each<[string, number | undefined, string[], Fault]>([
  ['nothing fails', undefined, ['Succeeded'], {}],
  ['the token is unknown', 401, ['Unauthorized'], { headers: { Authorization: `Bearer ${UNKNOWN_TOKEN}` } }],
  ['the database throttles', 429, ['Throttled'], fails(WRITE, 'throttles')],
  ['a table is missing', 500, ['Faults', 'InternalErrors-7'], { variables: { PLANTS_TABLE_NAME: 'Missing' } }],
  ['the database is down', 503, ['Faults'], fails(READ, 'responds with 500')],
  // The function reserves 4 s.
  ['the database is slow', 504, ['Faults'], { ...fails(READ, 'hangs'), remainingMs: 4200 }],
])('if %s, the line with error %s counts in %j', async (_, error, metrics, fault) => {
  const { plan, remainingMs, variables = {}, ...changes } = fault;
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const handler = await importHandler(proxy.endpoint);
  proxy.plan(plan);
  await handler(eventWith(changes), contextWith(remainingMs));
  // In this format, and without a log level, Lambda writes each line that the function logs as the member `message`.
  expect(logFormat).toEqual({ LogFormat: 'JSON' });
  const [{ message }, ...others] = lines.map((line) => JSON.parse(JSON.stringify({ message: line })));
  expect([message.error, others]).toEqual([error, []]);
  expect(metricsOf(LogGroup, { message })).toEqual(metrics);
  const ofOldVersion = metrics.filter((name) => name !== 'InternalErrors-7');
  expect(metricsOf(LogGroup, { message: { ...message, version: '6' } })).toEqual(ofOldVersion);
});

test('of the error responses of API Gateway itself, exactly these types count', () => {
  const { Format, DestinationArn } = template.propertiesOf('AWS::ApiGateway::Stage').AccessLogSetting;
  // The field is "-" if the function responded.
  const types: string[] = ['-', ...Object.values(ResponseType).map(({ responseType }) => responseType)];
  const counted = types.map((type) => {
    const metrics = metricsOf(DestinationArn, JSON.parse(Format.replace('$context.error.responseType', type)));
    return [type, metrics.join()];
  });
  expect(Object.fromEntries(counted.filter(([, metrics]) => metrics))).toEqual({
    API_CONFIGURATION_ERROR: 'Faults',
    DEFAULT_5XX: 'Faults',
    INTEGRATION_FAILURE: 'Faults',
    INTEGRATION_TIMEOUT: 'Faults',
    THROTTLED: 'Throttled',
  });
});
