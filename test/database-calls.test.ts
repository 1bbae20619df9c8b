import { expect, test, vi } from 'vitest';
import { contractBody } from './support/contract-body.ts';
import { startFailureProxy } from './support/dynamodb-proxy.ts';
import { startEngine } from './support/engine.ts';
import { contextWith, eventWith, importHandler, sampleEvent, sampleNames } from './support/event.ts';
import { EVERYTHING, templateWith } from './support/stack.ts';

/** No attempt ends because it is idle, which would depend on the speed of the machine. */
vi.mock('../functions/time-limits.ts', async (original) => {
  const limits = await original<typeof import('../functions/time-limits.ts')>();
  return { ...limits, ATTEMPT_IDLE_TIMEOUT_MS: 60_000 };
});

const engine = await startEngine();
const proxy = await startFailureProxy(engine.endpoint);
vi.spyOn(console, 'info').mockReturnValue();

test('the function reads once at init, and makes exactly the calls that its role allows', async () => {
  proxy.calls.length = 0;
  const handler = await importHandler(proxy.endpoint);
  // The read of priming.
  expect(proxy.calls).toEqual(['GetItem AccessTokensTable']);
  for (const name of sampleNames) await handler(sampleEvent(name), contextWith());
  const calls = [...new Set(proxy.calls)].map((call) => call.split(' '));
  const allow = (Action: string, id: string) => ({ Effect: 'Allow', Action, Resource: id.replace('}', '.Arn}') });
  for (const settings of [{}, EVERYTHING]) {
    const template = templateWith(settings);
    const { Role, LoggingConfig } = template.propertiesOf('AWS::Lambda::Function');
    // No other role has a policy.
    const { Roles, PolicyDocument } = template.propertiesOf('AWS::IAM::Policy');
    expect(Roles).toEqual([Role.replace('.Arn', '')]);
    // The CDK joins some statements. Here, each has one action and one resource.
    const statements = PolicyDocument.Statement.flatMap(({ Action, Resource, ...others }: Record<string, string[]>) =>
      [Action].flat().flatMap((Action) => [Resource].flat().map((Resource) => ({ ...others, Action, Resource }))),
    );
    expect(new Set(statements)).toEqual(
      new Set([
        ...['logs:CreateLogStream', 'logs:PutLogEvents'].map((action) => allow(action, LoggingConfig.LogGroup)),
        ...calls.map(([action, table]) => allow(`dynamodb:${action}`, `\${${table}}`)),
      ]),
    );
  }
});

test.each([
  // The reserve is 4 s. PutItem also needs the time of a read before it hangs.
  [`GetItem ${engine.accessTokensTable}`, 0, 4500],
  [`PutItem ${engine.plantsTable}`, 1, 7000],
])('if each %s hangs, also in init, the response is error 504, and a repetition succeeds', async (...row) => {
  const [call, stored, remainingMs] = row;
  await engine.clear(engine.plantsTable);
  proxy.plan({ call, failure: 'hangs' });
  const handler = await importHandler(proxy.endpoint);
  const context = contextWith(remainingMs);
  expect(contractBody(await handler(eventWith(), context))).toHaveProperty('error', 504);
  expect(context.getRemainingTimeInMillis()).toBeGreaterThan(0);
  expect(await engine.items(engine.plantsTable)).toHaveLength(stored);
  proxy.plan();
  expect(contractBody(await handler(eventWith(), contextWith()))).not.toHaveProperty('error');
  expect(await engine.items(engine.plantsTable)).toHaveLength(1);
});
