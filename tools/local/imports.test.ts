import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { projectRoot } from '../project-root.ts';
import { localVariables } from './environment.ts';

test('the local run loads nothing of the CDK', () => {
  const script = `
    import { createRequire } from 'node:module';
    await import('./tools/local/dynamodb.ts');
    await import('./tools/local/local-run.ts');
    await import('./tools/local/serve.ts');
    await import('./tools/local/gateway.ts');
    const { importRoutes } = await import('./tools/local/routes.ts');
    await Promise.all(importRoutes().map(({ handler }) => handler));
    console.log(Object.keys(createRequire(import.meta.url).cache).join('\\n'));
    process.exit();`;
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: projectRoot,
    // Nothing listens on this port.
    env: { ...process.env, ...localVariables('http://127.0.0.1:1') },
    encoding: 'utf8',
  });
  expect(loaded).toContain('/node_modules/@aws-sdk/client-dynamodb/');
  expect(loaded).not.toContain('/node_modules/aws-cdk-lib/');
});
