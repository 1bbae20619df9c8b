import { expect, test } from 'vitest';
import { onlyOf, propertiesOf, templateWith, textOf } from '../../test/support/stack.ts';

const template = templateWith();
const body = textOf(onlyOf(template, 'AWS::CloudWatch::Dashboard').DashboardBody);

test('shows the alarms that notify a person, but not those that only roll back a release', () => {
  const alarms = Object.entries(propertiesOf(template, 'AWS::CloudWatch::Alarm'));
  const shown = alarms.filter(([id]) => body.includes(id));
  expect(shown).toHaveLength(6);
  expect(shown).toEqual(alarms.filter(([, { AlarmActions }]) => AlarmActions));
});

test('shows how many requests fail, are throttled and are unauthorized', () => {
  for (const metric of ['Faults', 'Throttled', 'Unauthorized']) expect(body).toContain(`["PlantStore","${metric}",`);
});
