import { globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyProject } from '../support/project-copy.ts';

/* Which stack the CDK CLI selects: it ignores a mistyped option with a warning. */

const { directory, run } = copyProject();

test.each([
  ['', 'PlantStore-dev', ''],
  ['-c stage=production', 'PlantStore-production', ''],
  ['-c stage:production', 'PlantStore-dev', 'Context argument is not an assignment'],
  ['--stage production', 'PlantStore-dev', 'Unknown option(s): --stage'],
  ['-c stage=nope', '', 'The stage "nope" is not in infra/stages.ts; it must be one of dev, production.'],
  ['PlantStore-production -c stage=production', 'PlantStore-production', ''],
  ['PlantStore-production -c stage:production', '', 'No stacks match'],
])('npx cdk synth %s selects %j and says %j', async (options, stack, message) => {
  rmSync(join(directory, 'cdk.out'), { recursive: true, force: true });
  const { code, stdout, stderr } = await run(`npx cdk synth -q ${options}`.trim());
  // With CI=true, the CLI prints its messages to stdout.
  const ended = { code, output: stdout + stderr };
  expect(ended).toEqual({ code: stack === '' ? 1 : 0, output: expect.stringContaining(message) });
  const stacks = globSync('cdk.out/*.template.json', { cwd: directory });
  if (stack !== '') expect(stacks).toEqual([join('cdk.out', `${stack}.template.json`)]);
});
