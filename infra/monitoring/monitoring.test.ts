import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { expect, inject, test } from 'vitest';
import { readContext } from '../context.ts';
import { PlantStoreStack } from '../plant-store-stack.ts';

const template = Template.fromJSON(
  JSON.parse(readFileSync(join(inject('assembly'), 'PlantStore.template.json'), 'utf8')),
);
const alarms = Object.entries(template.findResources('AWS::CloudWatch::Alarm')).map(([id, { Properties }]) => ({
  name: id.replace(/^MonitoringAlarms(\w+?)[0-9A-F]{8}$/, '$1'),
  ...Properties,
}));
const alarm = (name: string) => alarms.find((candidate) => candidate.name === name);

test('outcomes are counted from the logs by their number, since every failure is a 400', () => {
  template.hasResourceProperties('AWS::Logs::MetricFilter', {
    LogGroupName: { Ref: 'CreatePlantLogs2D474390' },
    FilterPattern: '{ $.message.error > 0 }',
    MetricTransformations: [
      {
        MetricNamespace: 'PlantStore',
        MetricName: 'Errors',
        MetricValue: '1',
        Dimensions: [{ Key: 'error', Value: '$.message.error' }],
      },
    ],
  });
  template.hasResourceProperties('AWS::Logs::MetricFilter', {
    FilterPattern: '{ $.message.outcome = "succeeded" }',
    MetricTransformations: [Match.objectLike({ MetricName: 'Created' })],
  });
});

test.each([
  ['GatewayFaults', ['INTEGRATION_FAILURE', 'INTEGRATION_TIMEOUT', 'DEFAULT_5XX'], ['THROTTLED', 'MISSING']],
  ['GatewayThrottles', ['THROTTLED', 'QUOTA_EXCEEDED'], ['INTEGRATION', 'DEFAULT']],
])('%s counts the answers that the gateway made itself', (metric, counted, others) => {
  const filters = Object.values(template.findResources('AWS::Logs::MetricFilter'));
  const pattern = filters.find(({ Properties }) => Properties.MetricTransformations[0].MetricName === metric);
  for (const type of counted) expect(pattern?.['Properties'].FilterPattern).toContain(`$.gatewayResponse = "${type}"`);
  for (const type of others) expect(pattern?.['Properties'].FilterPattern).not.toContain(type);
});

test('an outage alarms although every failure is a 400: 500, 503, 504 and the gateway’s own faults', () => {
  const metrics = JSON.stringify(alarm('Faults')?.Metrics);
  for (const error of ['500', '503', '504']) expect(metrics).toContain(`"Value":"${error}"`);
  expect(metrics).toContain('GatewayFaults');
});

test('there is an alarm for each thing that a person is called for', () => {
  expect(alarms.map(({ name }) => name).toSorted()).toEqual([
    'Faults',
    'FunctionErrors',
    'FunctionThrottles',
    'Latency',
    'StoreErrors',
    'StoreThrottles',
    'Throttled',
    'Unauthorized',
  ]);
});

test.each(alarms)('the alarm $name says what it means and what to do first, and goes to the topic', (each) => {
  expect(each.AlarmDescription).toMatch(/^[A-Z].*\. First: .*docs\/operations\.md\.$/s);
  // "AWS::CloudWatch::Alarm" takes no more.
  expect(each.AlarmDescription.length).toBeLessThanOrEqual(1024);
  expect(each.TreatMissingData).toBe('notBreaching');
  expect(JSON.stringify(each.AlarmActions)).toContain('MonitoringAlarmsTopic');
});

test('the topic is encrypted under a key that CloudWatch may use, and nobody may publish without TLS', () => {
  template.hasResourceProperties('AWS::SNS::Topic', { KmsMasterKeyId: Match.anyValue() });
  template.hasResourceProperties('AWS::KMS::Key', {
    EnableKeyRotation: true,
    KeyPolicy: {
      Statement: Match.arrayWith([
        Match.objectLike({
          Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
          Principal: { Service: 'cloudwatch.amazonaws.com' },
          Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
        }),
      ]),
    },
  });
  template.hasResourceProperties('AWS::SNS::TopicPolicy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
        Match.objectLike({ Action: 'sns:Publish', Principal: { Service: 'cloudwatch.amazonaws.com' } }),
      ]),
    },
  });
});

test('nobody is mailed until an address is given', () => {
  template.resourceCountIs('AWS::SNS::Subscription', 0);
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [], alarmEmail: 'ops@example.com' } });
  Template.fromStack(new PlantStoreStack(app, readContext(app))).hasResourceProperties('AWS::SNS::Subscription', {
    Protocol: 'email',
    Endpoint: 'ops@example.com',
  });
});

test('the dashboard answers its four questions from top to bottom', () => {
  const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const body = JSON.stringify(dashboard?.['Properties'].DashboardBody);
  const questions = ['Is it up?', 'Is it fast?', 'What are callers getting wrong?', 'What does it cost?'];
  const positions = questions.map((question) => body.indexOf(question));
  expect(positions).not.toContain(-1);
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
});

test('the dashboard counts the bytes of the stack’s own logs, not of all of the account’s', () => {
  const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const body = dashboard?.['Properties'].DashboardBody['Fn::Join'][1].map((part: string | { Ref?: string }) =>
    typeof part === 'string' ? part : part.Ref,
  );
  for (const logGroup of Object.keys(template.findResources('AWS::Logs::LogGroup'))) {
    expect(body.join('')).toContain(`["AWS/Logs","IncomingBytes","LogGroupName","${logGroup}",`);
  }
});

const queries = Object.values(template.findResources('AWS::Logs::QueryDefinition')).map(({ Properties }) => ({
  name: Properties.Name,
  query: Properties.QueryString,
  logs: Properties.LogGroupNames.length,
}));
const query = (name: string) => queries.find((candidate) => candidate.name.startsWith(`PlantStore/${name}`))?.query;

test.each(queries)('the query $name is of commands that Logs Insights has, in an order that it takes', ({ query }) => {
  const commands = query.split('\n').map((line: string) => line.replace(/^\| /, '').split(' ', 1)[0]);
  for (const command of commands) expect(['fields', 'filter', 'stats', 'sort', 'limit']).toContain(command);
  // "stats": two at most, and no sort or limit before the second.
  expect(commands.filter((command: string) => command === 'stats').length).toBeLessThanOrEqual(2);
  expect(commands.join(' ')).not.toMatch(/(sort|limit) .*stats/);
});

test.each(queries)('the query $name goes by the id that no caller can choose, if by any', ({ query, logs }) => {
  expect(query).not.toMatch(/\brequestId\b/);
  if (/\bid\b/.test(query) && logs > 1) {
    expect(query).toContain('coalesce(message.extendedRequestId, extendedRequestId) as id');
  }
});

test('one request is found by the header that its caller has of the gateway', () => {
  expect(queries.map(({ name }) => name)).toContain('PlantStore/one request (put its x-amz-apigw-id in)');
});

test('the query "faults" shows each kind of gateway response that the alarm Faults counts', () => {
  const filters = Object.values(template.findResources('AWS::Logs::MetricFilter'));
  const counted = filters.find(({ Properties }) => Properties.MetricTransformations[0].MetricName === 'GatewayFaults');
  const types = counted?.['Properties'].FilterPattern.match(/[A-Z_0-9]{3,}/g);
  expect(types.length).toBeGreaterThan(0);
  expect(query('faults')).toContain(`gatewayResponse in ${JSON.stringify(types)}`);
});

test('the query "answers of the gateway" leaves out exactly the routes with a function behind them', () => {
  const resources = template.findResources('AWS::ApiGateway::Resource');
  const withFunction = Object.values(template.findResources('AWS::ApiGateway::Method'))
    .filter(({ Properties }) => Properties.Integration.Type === 'AWS_PROXY')
    .map(({ Properties: { HttpMethod, ResourceId } }) => {
      const path = resources[ResourceId.Ref]?.['Properties'].PathPart;
      return `(method = "${HttpMethod}" and resource = "/${path}")`;
    });
  expect(withFunction.length).toBeGreaterThan(0);
  expect(query('answers of the gateway')).toContain(
    `filter gatewayResponse != "-" or not (${withFunction.join(' or ')})\n`,
  );
});
