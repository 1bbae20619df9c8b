import { execFileSync } from 'node:child_process';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { projectRoot } from '../model/project-root.ts';
import { localVariables } from '../tools/local/environment.ts';
import { closedAtEnd } from './support/closed-at-end.ts';
import { startEngine } from './support/engine.ts';
import { allOperations, functionOf, propertiesOf, templateWith } from './support/stack.ts';

/* The local run does not read the template: these tests find a difference between both. */

const template = templateWith({});
const engine = closedAtEnd(await startEngine());

test('the stack and the local run have the same tables', async () => {
  for (const [TableName, properties] of Object.entries(propertiesOf(template, 'AWS::DynamoDB::Table'))) {
    const { Table } = await engine.client.send(new DescribeTableCommand({ TableName }));
    const { AttributeDefinitions, KeySchema } = properties;
    expect(Table).toMatchObject({ AttributeDefinitions, KeySchema });
  }
});

test.each(allOperations)('$operationId gets the same variables from the stack and the local run', (operation) => {
  const { Variables } = functionOf(template, operation).properties.Environment;
  const tables = Object.entries<{ Ref: string }>(Variables).filter(([name]) => name.endsWith('_TABLE_NAME'));
  expect(localVariables('')).toMatchObject(Object.fromEntries(tables.map(([name, { Ref }]) => [name, Ref])));
});

test('the local run loads nothing of the CDK', () => {
  const script = `
    import { createRequire } from 'node:module';
    await import('./tools/local/dynamodb.ts');
    await import('./tools/local/serve.ts');
    await import('./tools/local/gateway.ts');
    const { importRoutes } = await import('./tools/local/routes.ts');
    await Promise.all(importRoutes().map(({ handler }) => handler));
    console.log(Object.keys(createRequire(import.meta.url).cache).join('\\n'));
    process.exit();`;
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: projectRoot,
    encoding: 'utf8',
  });
  expect(loaded).toContain('/node_modules/@aws-sdk/client-dynamodb/');
  expect(loaded).not.toContain('/node_modules/aws-cdk-lib/');
});
