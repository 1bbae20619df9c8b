import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { readSettings } from './settings.ts';
import { PlantStoreStack } from './stack.ts';
import { stages } from './stages.ts';

try {
  const app = new App();
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  new PlantStoreStack(app, readSettings(app, stages));
  app.synth();
} catch (thrown) {
  // A programming error, such as a TypeError, is printed with its stack.
  console.error(thrown instanceof Error && thrown.constructor === Error ? thrown.message : thrown);
  process.exitCode = 1;
}
