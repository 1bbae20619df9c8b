import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, inject, test, vi } from 'vitest';
import { errors } from '../../functions/shared/errors.ts';
import { requestLog } from '../../functions/shared/middleware/request-log.ts';
import type { Request } from '../../functions/shared/request.ts';
import { projectRoot } from '../../local/synthesize.ts';
import { markdown, summary } from './cost.ts';
import { CHANGES, LINE_BYTES, monthlyCost, piecesOf, volumes } from './monthly-cost.ts';
import { dollars, PRICES, sum } from './prices.ts';

const stack = JSON.parse(readFileSync(join(inject('assembly'), 'PlantStore.template.json'), 'utf8'));
const template = Template.fromJSON(stack);
const event: APIGatewayProxyEvent = JSON.parse(readFileSync(join(projectRoot, 'events/create-plant.json'), 'utf8'));

const speed = { megabytes: 1024, durationMs: 9.2 };
const pieces = { customMetrics: 20, alarmMetrics: 10, dashboards: 1, keys: 2 };

test.each([
  ['nothing', PRICES.restRequests, 0, 0],
  ['a price without tiers', PRICES.writes, 1000, 625],
  ['the first tier', PRICES.restRequests, 333, 333 * 3.5],
  ['each tier in part', PRICES.restRequests, 26_280, 333 * 3.5 + 667 * 2.8 + 19_000 * 2.38 + 6280 * 1.51],
  ['60 TB of logs, 12,500 for 60,000 GB', PRICES.lambdaLogs, 60 * 1024, 12_500 * 1.024],
])('tiers: %s', (_, price, quantity, cost) => {
  expect(dollars(price, quantity)).toBeCloseTo(cost, 6);
});

test('a month of 100 requests a second, by hand', () => {
  const cost = monthlyCost(100, speed, pieces);
  expect(cost['API Gateway']).toBeCloseTo(262.8 * 3.5);
  expect(cost['Lambda, duration']).toBeCloseTo(262.8e6 * 0.01 * 0.0000133334);
  expect(cost['DynamoDB, writes']).toBeCloseTo(262.8 * 0.625);
  expect(cost['X-Ray, traces']).toBeCloseTo((1 + 99 * 0.05) * 2.628 * 5);
  expect(cost['custom metrics']).toBeCloseTo(6);
});

test('at rest only alarms, dashboard and keys cost something', () => {
  expect(sum(Object.values(monthlyCost(0, speed, pieces)))).toBeCloseTo(10 * 0.1 + 3 + 2 * 1);
});

test('the concurrency is what binds first: requests at once, or ten a second for each environment', () => {
  expect(volumes(10_000, { ...speed, durationMs: 14 })).toMatchObject({ atOnce: 140, concurrency: 1000 });
  expect(volumes(10_000, { ...speed, durationMs: 200 })).toMatchObject({ atOnce: 2000, concurrency: 2000 });
});

test.each(Object.keys(CHANGES))('a change that is said to save does, and costs nothing more anywhere: %s', (change) => {
  const before = monthlyCost(10_000, speed, pieces);
  const after = monthlyCost(10_000, speed, pieces, CHANGES[change]);
  expect(sum(Object.values(after))).toBeLessThan(sum(Object.values(before)));
  for (const [component, cost] of Object.entries(before)) {
    expect(after, component).toHaveProperty(
      [component],
      expect.toSatisfy((changed: number) => changed <= cost),
    );
  }
});

test('pieces are counted as they are paid', () => {
  const filter = (log: string, MetricName: string, ...dimensions: string[]) => ({
    Type: 'AWS::Logs::MetricFilter',
    Properties: {
      LogGroupName: { Ref: log },
      MetricTransformations: [
        { MetricName, ...(dimensions.length > 0 && { Dimensions: dimensions.map((Key) => ({ Key })) }) },
      ],
    },
  });
  const Resources = {
    one: filter('FunctionLog', 'Faults'),
    sameMetric: filter('AccessLog', 'Faults'),
    sameMetricAgain: filter('AnotherLog', 'Faults'),
    other: filter('AccessLog', 'Refusals'),
    ofOneOperation: filter('FunctionLog', 'Succeeded', 'operation'),
    ofAnotherOperation: filter('AnotherLog', 'Succeeded', 'operation'),
    byNumber: filter('FunctionLog', 'Errors', 'operation', 'error'),
    onAMetric: { Type: 'AWS::CloudWatch::Alarm', Properties: {} },
    onAnExpression: {
      Type: 'AWS::CloudWatch::Alarm',
      Properties: { Metrics: [{ Expression: 'a + b' }, { MetricStat: {} }, { MetricStat: {} }] },
    },
    dashboard: { Type: 'AWS::CloudWatch::Dashboard' },
    key: { Type: 'AWS::KMS::Key' },
  };
  const numbers = Object.keys(errors).length;
  expect(piecesOf({ Resources })).toEqual({ customMetrics: 4 + numbers, alarmMetrics: 3, dashboards: 1, keys: 1 });
});

test('the stack has some of all that is paid by the piece', () => {
  for (const count of Object.values(piecesOf(stack))) expect(count).toBeGreaterThan(0);
});

test('log lines are about as long as they are priced', () => {
  const info = vi.spyOn(console, 'info').mockReturnValue();
  const { before, after } = requestLog('createPlant');
  // No more of a request is logged.
  const request = { event, context: { functionVersion: '12' }, internal: { tokenName: 'ci' } } as Request;
  before?.(request);
  after?.(request);
  const line = {
    timestamp: '2026-11-21T04:00:14.123Z',
    level: 'INFO',
    requestId: '8286a188-ba32-4475-8077-530cd35c09a9',
    message: info.mock.lastCall?.[0],
  };
  const priced = LINE_BYTES.request / Buffer.byteLength(JSON.stringify(line));
  expect(priced).toBeGreaterThan(0.85);
  expect(priced).toBeLessThan(1.15);
});

test('access log lines are about as long as they are priced', () => {
  const { requestContext } = event;
  const values: Record<string, string> = {
    '$context.extendedRequestId': requestContext.extendedRequestId ?? '',
    '$context.xrayTraceId': '1-6920d6fe-2b7c1c5a0f4e3d2c1b0a9f8e',
    '$context.requestTime': requestContext.requestTime ?? '',
    '$context.identity.sourceIp': requestContext.identity.sourceIp,
    '$context.path': requestContext.path,
    '$context.resourcePath': event.resource,
  };
  const [stage] = Object.values(template.findResources('AWS::ApiGateway::Stage'));
  const format: string = stage?.['Properties'].AccessLogSetting.Format;
  // What is not named above is a status, a number of ms or bytes, or "-".
  const line = format.replaceAll(/\$context\.[\w.]+/g, (variable) => values[variable] ?? '200');
  const priced = LINE_BYTES.access / Buffer.byteLength(line);
  expect(priced).toBeGreaterThan(0.85);
  expect(priced).toBeLessThan(1.15);
});

test('the stack is set up as it is priced', () => {
  template.allResourcesProperties('AWS::ApiGateway::Stage', { TracingEnabled: true });
  template.allResourcesProperties('AWS::DynamoDB::Table', {
    BillingMode: 'PAY_PER_REQUEST',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  });
  template.allResourcesProperties('AWS::Lambda::Function', {
    Architectures: ['arm64'],
    LoggingConfig: { LogFormat: 'JSON' },
  });
});

/** Of the last bench. */
const results = JSON.parse(readFileSync(join(projectRoot, 'bench/results.json'), 'utf8'));
const read = (document: string) => readFileSync(join(projectRoot, document), 'utf8');

test('the tables in the documents are those of the prices and of the last bench (npm run cost mends it)', () => {
  const document = read('docs/cost-and-scale.md');
  // An operation more has more metrics, and must not need another table.
  const count = (name: string) => Number(new RegExp(`(\\d+) ${name}`).exec(document)?.[1]);
  const written = {
    customMetrics: count('custom metrics'),
    alarmMetrics: count('metrics in alarms'),
    dashboards: count('dashboard'),
    keys: count('key'),
  };
  expect(document).toContain(`<!-- cost -->\n${markdown(results, written)}\n<!-- /cost -->\n`);
  expect(read('README.md')).toContain(`<!-- cost -->\n${summary(results, written)}\n<!-- /cost -->\n`);
});

test.each([
  ['none at all', 'no cgroups'],
  ['none at the stack’s memory size', [{ megabytes: 300, warmMs: 8 }]],
])('a bench without the time that is needed is refused in a sentence: %s', (_, sizes) => {
  expect(() => markdown({ date: '2026-01-01', megabytes: 512, sizes }, pieces)).toThrow(
    'bench/results.json has no time at 512 MB; npm run bench measures it on Linux.',
  );
});
