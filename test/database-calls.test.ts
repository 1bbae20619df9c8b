import { expect, test, vi } from 'vitest';
import { closedAtEnd } from './support/closed-at-end.ts';
import { startFailureProxy } from './support/dynamodb-proxy.ts';
import { startEngine } from './support/engine.ts';
import { contextWith, importHandler, sampleEvent, sampleNames } from './support/event.ts';
import { EVERYTHING, templateWith } from './support/stack.ts';

const engine = closedAtEnd(await startEngine());
const proxy = closedAtEnd(await startFailureProxy(engine.endpoint));
vi.spyOn(console, 'info').mockReturnValue();

test('the function reads once at init, and makes exactly the calls that its role allows', async () => {
  const handler = await importHandler(proxy.endpoint);
  // The read of priming.
  expect(proxy.calls).toEqual(['GetItem AccessTokensTable']);
  for (const name of sampleNames) await handler(sampleEvent(name), contextWith());
  const calls = [...new Set(proxy.calls)].map((call) => call.split(' '));
  const allow = (Action: string | string[], id: string) => {
    return { Effect: 'Allow', Action, Resource: id.replace('}', '.Arn}') };
  };
  for (const settings of [{}, EVERYTHING]) {
    const template = templateWith(settings);
    const { Role, LoggingConfig } = template.propertiesOf('AWS::Lambda::Function');
    // No other role has a policy.
    const { Roles, PolicyDocument } = template.propertiesOf('AWS::IAM::Policy');
    expect(Roles).toEqual([Role.replace('.Arn', '')]);
    expect(new Set(PolicyDocument.Statement)).toEqual(
      new Set([
        allow(['logs:CreateLogStream', 'logs:PutLogEvents'], LoggingConfig.LogGroup),
        ...calls.map(([action, table]) => allow(`dynamodb:${action}`, `\${${table}}`)),
      ]),
    );
  }
});
