import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { defaultTemplate, functionOf, templateWith, withWaterPlant } from '../../test/support/stack.ts';
import { grantedOperations } from '../operations.ts';

interface Graph {
  properties: { title: string; metrics: { stat: string; period: number }[][] };
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

  test('each graph sums what it counts over the time that its title names, and shows latencies by percentile', () => {
    const shown = JSON.parse(body);
    // Long enough to see how it was before an alarm.
    expect(shown.start).toBe('-PT3H');
    const graphs: [title: string, metrics: string[]][] = shown.widgets
      .filter(({ type }: { type: string }) => type === 'metric')
      .map(({ properties: { title, metrics } }: Graph) => [
        title,
        [...new Set(metrics.map((metric) => metric.at(-1)).map((each) => `${each?.stat} of ${each?.period} s`))],
      ]);
    expect(Object.fromEntries(graphs)).toEqual({
      'Requests a minute: those that succeeded, by operation; those that did not': ['Sum of 60 s'],
      'Latency at the gateway, ms': ['p50 of 60 s', 'p90 of 60 s', 'p99 of 60 s'],
      'Where it goes (p99), ms': ['p99 of 60 s'],
      ...Object.fromEntries(
        operations.map(({ operationId }) => [`${operationId}: errors a minute, by their number`, ['Sum of 60 s']]),
      ),
      // Count is told as a sample a request ("Amazon API Gateway dimensions and metrics").
      'All that the gateway answered': ['SampleCount of 60 s', 'Sum of 60 s'],
      'Requests an hour': ['SampleCount of 3600 s'],
      'Lambda, ms billed an hour': ['Sum of 3600 s'],
      'DynamoDB, request units an hour': ['Sum of 3600 s'],
      'Logs, bytes an hour': ['Sum of 3600 s'],
    });
  });

  test('the dashboard shows each alarm of the stack', () => {
    for (const alarm of Object.keys(template.findResources('AWS::CloudWatch::Alarm'))) expect(body).toContain(alarm);
  });

  test('the dashboard counts the bytes of the stack’s own logs, not of all of the account’s', () => {
    for (const logGroup of Object.keys(template.findResources('AWS::Logs::LogGroup'))) {
      expect(body).toContain(`["AWS/Logs","IncomingBytes","LogGroupName","${logGroup}",`);
    }
  });
});
