import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { defaultTemplate, functionOf, templateWith, withWaterPlant } from '../../test/support/stack.ts';
import { grantedOperations } from '../operations.ts';

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

  test('the dashboard shows each alarm of the stack', () => {
    for (const alarm of Object.keys(template.findResources('AWS::CloudWatch::Alarm'))) expect(body).toContain(alarm);
  });

  test('the dashboard counts the bytes of the stack’s own logs, not of all of the account’s', () => {
    for (const logGroup of Object.keys(template.findResources('AWS::Logs::LogGroup'))) {
      expect(body).toContain(`["AWS/Logs","IncomingBytes","LogGroupName","${logGroup}",`);
    }
  });
});
