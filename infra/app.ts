import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { readSettings, settingWarnings, stackName } from './settings.ts';
import { PlantStoreStack } from './stack.ts';
import { stages as stagesOfFile } from './stages.ts';

try {
  const app = new App();
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  // The tests are about the stack with its default settings.
  const stages = process.env['IGNORE_STAGES'] ? {} : stagesOfFile;
  const settings = readSettings(app, stages);
  const stack = new PlantStoreStack(app, stackName(settings), settings);
  for (const [key, warning] of settingWarnings(app, stages)) Validations.of(stack).addWarning(key, warning);
  app.synth();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
