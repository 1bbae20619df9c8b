import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { expect, test, vi } from 'vitest';
import { CONTEXTS, stackWith } from '../test/support/stack.ts';

test.each(CONTEXTS)('%s, CDK’s own rules find nothing', (_when, context) => {
  vi.stubEnv('CDK_VALIDATION', 'true');
  const assembly = App.of(stackWith(context))?.synth();
  vi.unstubAllEnvs();
  const report = readFileSync(join(assembly?.directory ?? '', 'validation-report.json'), 'utf8');
  expect(JSON.parse(report).pluginReports).toEqual([]);
});
