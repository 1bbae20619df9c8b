import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { defaultTemplate, functionOf, templateWith, withWaterPlant } from '../../test/support/stack.ts';
import { ACTIONS, type Action, grantedOperations } from '../operations.ts';

interface Widget {
  type: string;
  width: number;
  properties: {
    title: string;
    metrics: { label?: string; stat: string; period: number }[][];
    yAxis: { left: { min: number } };
  };
}

/** The dashboard as one text, a logical id in the place of each reference. */
function bodyOf(template: Template): string {
  const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  return dashboard?.['Properties'].DashboardBody['Fn::Join'][1]
    .map((part: string | { Ref?: string; 'Fn::GetAtt'?: string[] }) =>
      typeof part === 'string' ? part : (part.Ref ?? part['Fn::GetAtt']?.[0]),
    )
    .join('');
}

describe.each([
  ['the contract', defaultTemplate(), grantedOperations()],
  ['two operations', templateWith({}, withWaterPlant()), withWaterPlant()],
])('of %s', (_what, template, operations) => {
  const body = bodyOf(template);
  const { start, widgets }: { start: string; widgets: Widget[] } = JSON.parse(body);
  const graphs = widgets.filter(({ type }) => type === 'metric');

  test('the dashboard answers its four questions from top to bottom', () => {
    const questions = ['Is it up?', 'Is it fast?', 'What are callers getting wrong?', 'What does it cost?'];
    const positions = questions.map((question) => body.indexOf(question));
    expect(positions).not.toContain(-1);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  });

  test.each(operations)(
    'the dashboard shows the requests, the errors and the durations of $operationId',
    (operation) => {
      const { operationId } = operation;
      expect(body).toContain(`["PlantStore","Succeeded","operation","${operationId}",`);
      for (const error of [400, 401, 409, 413, 415, 429]) {
        expect(body).toContain(`["PlantStore","Errors","error","${error}","operation","${operationId}",`);
      }
      expect(body).toContain(`["AWS/Lambda","Duration","FunctionName","${functionOf(template, operation).id}",`);
    },
  );

  test('each graph names its lines, sums what it counts over the time of its title, and shows latencies by percentile', () => {
    const ids = operations.map(({ operationId }) => operationId);
    const uses = (nameOf: (action: Action) => string) =>
      operations.flatMap(({ grants }) =>
        Object.entries(grants).flatMap(([table, actions]) => actions.map((action) => `${table}: ${nameOf(action)}`)),
      );
    const lines = (labels: (string | number)[], what: string) =>
      Object.fromEntries(labels.map((label) => [label, what]));
    const callersErrors = lines([400, 401, 404, 409, 413, 415, 429], 'Sum of 60 s');
    const shown = graphs.map(({ properties: { title, metrics } }): [string, unknown] => [
      title,
      Object.fromEntries(
        metrics.map((metric) => metric.at(-1)).map((line) => [line?.label, `${line?.stat} of ${line?.period} s`]),
      ),
    ]);
    expect(Object.fromEntries(shown)).toEqual({
      'Requests a minute: those that succeeded, by operation; those that did not': lines(
        [...ids, 'Faults', 'Throttled'],
        'Sum of 60 s',
      ),
      'Latency at the gateway, ms': { p50: 'p50 of 60 s', p90: 'p90 of 60 s', p99: 'p99 of 60 s' },
      'Where it goes (p99), ms': lines(
        ['all functions, cold starts included', ...ids, ...uses((action) => action)],
        'p99 of 60 s',
      ),
      ...Object.fromEntries(ids.map((id) => [`${id}: errors a minute, by their number`, callersErrors])),
      // Count is told as a sample a request ("Amazon API Gateway dimensions and metrics").
      'All that the gateway answered': { requests: 'SampleCount of 60 s', 400: 'Sum of 60 s' },
      'Requests an hour': { requests: 'SampleCount of 3600 s' },
      'Lambda, ms billed an hour': lines(ids, 'Sum of 3600 s'),
      'DynamoDB, request units an hour': lines(
        uses((action) => ACTIONS[action]),
        'Sum of 3600 s',
      ),
      // CloudWatch names each by its log group.
      'Logs, bytes an hour': { undefined: 'Sum of 3600 s' },
    });
  });

  test('the dashboard shows three hours at first, long enough to see how it was before an alarm', () => {
    expect(start).toBe('-PT3H');
  });

  test('headings are as wide as the page, graphs half as wide, and their scale starts at 0', () => {
    // The page is 24 wide ("Dashboard body structure and syntax").
    expect(new Set(widgets.map(({ type, width }) => `${type} ${width}`))).toEqual(
      new Set(['text 24', 'alarm 12', 'metric 12']),
    );
    for (const { properties } of graphs) expect(properties.yAxis.left.min, properties.title).toBe(0);
  });

  test('the dashboard shows how long DynamoDB takes for each call, and what each table consumes', () => {
    for (const name of [
      'SuccessfulRequestLatency","Operation',
      'ConsumedReadCapacityUnits',
      'ConsumedWriteCapacityUnits',
    ]) {
      expect(body).toContain(`["AWS/DynamoDB","${name}","`);
    }
  });

  test('the dashboard shows each alarm that calls a person, and none that only takes a release back', () => {
    expect(widgets.find(({ type }) => type === 'alarm')?.properties.title).toBe('Alarms');
    const alarms = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
    const shown = alarms.filter(([id]) => body.includes(id)).map(([id]) => id);
    expect(shown).toEqual(alarms.filter(([, { Properties }]) => Properties.AlarmActions).map(([id]) => id));
  });

  test('the dashboard counts the bytes of the stack’s own logs, not of all of the account’s', () => {
    for (const logGroup of Object.keys(template.findResources('AWS::Logs::LogGroup'))) {
      expect(body).toContain(`["AWS/Logs","IncomingBytes","LogGroupName","${logGroup}",`);
    }
  });
});
