import { App, type AppProps, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { commit } from './commit.ts';
import { readSettings, type Settings } from './settings.ts';
import { PlantStoreStack } from './stack.ts';

/**
 * Writes the template of the stage that the command line selects, and prints what is wrong.
 * Without `props`, CDK reads them from the environment variables of its CLI. Returns the exit status.
 */
export function synthesizeStage(stages: Record<string, Settings>, props?: AppProps): 0 | 1 {
  try {
    const app = new App(props);
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
    return 0;
  } catch (thrown) {
    // A programming error, such as a TypeError, is printed with its stack.
    console.error(thrown instanceof Error && thrown.constructor === Error ? thrown.message : thrown);
    return 1;
  }
}
