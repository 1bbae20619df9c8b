import { expect, test } from 'vitest';
import { textOf } from '../../test/support/permissions.ts';
import { functionOf, onlyOf, propertiesOf, templateWith, twoOperations } from '../../test/support/stack.ts';

const template = templateWith({});
const body = textOf(onlyOf(template, 'AWS::CloudWatch::Dashboard').DashboardBody);

test.each(twoOperations)('shows the requests, errors and durations of $operationId', (operation) => {
  const { operationId } = operation;
  expect(body).toContain(`["PlantStore","Succeeded","operation","${operationId}",`);
  for (const error of [400, 401, 409, 413, 415, 429, 500, 503, 504]) {
    expect(body).toContain(`["PlantStore","Errors","error","${error}","operation","${operationId}",`);
  }
  expect(body).toContain(`["AWS/Lambda","Duration","FunctionName","${functionOf(template, operation).id}",`);
});

test('shows the alarms that notify a person, but not those that only roll back a release', () => {
  const alarms = Object.entries(propertiesOf(template, 'AWS::CloudWatch::Alarm'));
  const shown = alarms.filter(([id]) => body.includes(id));
  expect(shown).toEqual(alarms.filter(([, { AlarmActions }]) => AlarmActions));
});
