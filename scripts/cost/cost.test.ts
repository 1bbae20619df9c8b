import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, inject, test } from 'vitest';
import type { Results } from '../../bench/report.ts';
import { errors } from '../../functions/shared/errors.ts';
import { projectRoot } from '../../local/synthesize.ts';
import { markdown } from './cost.ts';
import { ACCESS_LINE, inputsFrom, monthlyCost, PIECES } from './monthly-cost.ts';
import { dollars, PRICES } from './prices.ts';

const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');
const results: Results = JSON.parse(read('bench/results.json'));
const template = Template.fromJSON(
  JSON.parse(readFileSync(join(inject('assembly'), 'PlantStore.template.json'), 'utf8')),
);
const propertiesOf = (type: string) => Object.values(template.findResources(type)).map(({ Properties }) => Properties);

test('the document’s figures are those that are computed', () => {
  expect(read('docs/cost-and-scale.md')).toContain(`<!-- cost -->\n${markdown(results)}\n<!-- /cost -->`);
});

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
  const cost = monthlyCost(100, inputsFrom(results));
  expect(cost['API Gateway, requests']).toBeCloseTo(262.8 * 3.5);
  expect(cost['DynamoDB, writes']).toBeCloseTo(262.8 * 0.625);
  expect(cost['X-Ray, traces']).toBeCloseTo((1 + 99 * 0.05) * 2.628 * 5, 6);
});

test('what is paid by the piece is what the template has', () => {
  const metrics = propertiesOf('AWS::Logs::MetricFilter').flatMap(({ MetricTransformations }) => MetricTransformations);
  const counted = metrics.filter(({ Dimensions }) => Dimensions === undefined);
  // A missing path is answered by the gateway alone; every other number may be in the function's log.
  const byNumber = Object.keys(errors).filter((error) => error !== '404');
  expect(metrics.length - counted.length).toBe(1);
  const alarmMetrics = propertiesOf('AWS::CloudWatch::Alarm').map(
    ({ Metrics }) => Metrics?.filter(({ MetricStat }: { MetricStat?: object }) => MetricStat).length ?? 1,
  );
  expect(PIECES).toEqual({
    customMetrics: counted.length + byNumber.length,
    alarmMetrics: alarmMetrics.reduce((sum, metricsOfOne) => sum + metricsOfOne, 0),
    dashboards: propertiesOf('AWS::CloudWatch::Dashboard').length,
    keys: propertiesOf('AWS::KMS::Key').length,
  });
});

test('the stack is set up as it is priced', () => {
  const [stage] = propertiesOf('AWS::ApiGateway::Stage');
  expect(Object.keys(ACCESS_LINE)).toEqual(Object.keys(JSON.parse(stage?.['AccessLogSetting'].Format)));
  expect(stage).toMatchObject({ TracingEnabled: true });
  template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
  template.allResourcesProperties('AWS::DynamoDB::Table', {
    BillingMode: 'PAY_PER_REQUEST',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  });
  template.allResourcesProperties('AWS::Lambda::Function', {
    MemorySize: results.megabytes,
    Architectures: ['arm64'],
    LoggingConfig: { LogFormat: 'JSON' },
  });
});

test('a bench without times by memory size is refused in a sentence', () => {
  expect(() => inputsFrom({ ...results, sizes: 'no cgroups' })).toThrow(
    'bench/results.json has no times by memory size (no cgroups); npm run bench measures them on Linux.',
  );
  expect(() => inputsFrom({ ...results, megabytes: 300 })).toThrow('no times at its 300 MB');
});
