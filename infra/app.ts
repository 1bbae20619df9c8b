import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { errorText } from './error-text.ts';
import { readSettings } from './settings.ts';
import { PlantStoreStack } from './stack.ts';
import { stages } from './stages.ts';

try {
  const app = new App();
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  new PlantStoreStack(app, readSettings(app, stages));
  app.synth();
} catch (error) {
  console.error(errorText(error));
  process.exitCode = 1;
}
