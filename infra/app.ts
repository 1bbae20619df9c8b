import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { readContext, warningsOf } from './settings.ts';
import { PlantStoreStack } from './stack.ts';
import { stages as ofFile } from './stages.ts';

try {
  const app = new App();
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  // The tests are about the stack as it is by default.
  const stages = process.env['IGNORE_STAGES'] ? {} : ofFile;
  const stack = new PlantStoreStack(app, readContext(app, stages));
  for (const [key, warning] of warningsOf(app, stages)) Validations.of(stack).addWarning(key, warning);
  app.synth();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
