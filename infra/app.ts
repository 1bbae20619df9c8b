import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { commit } from './commit.ts';
import { readSettings } from './settings.ts';
import { PlantStoreStack } from './stack.ts';
import { stages } from './stages.ts';

try {
  const app = new App();
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const settings = readSettings(app, stages);
  // Not a warning of the CDK, because `cdk deploy --strict` would fail.
  if (!settings.ephemeral && settings.alarms?.email === undefined) {
    console.error(
      `The stage "${settings.stage}" has no alarms.email: unless something is subscribed to AlarmTopicArn, nobody is told about a failure.`,
    );
  }
  new PlantStoreStack(app, settings, commit());
  app.synth();
} catch (thrown) {
  // A programming error, such as a TypeError, is printed with its stack.
  console.error(thrown instanceof Error && thrown.constructor === Error ? thrown.message : thrown);
  process.exitCode = 1;
}
