import { type App, CfnOutput, RemovalPolicies, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Api } from './api.ts';
import { addFunction } from './function.ts';
import { Alarms } from './monitoring/alarms.ts';
import { addDashboard } from './monitoring/dashboard.ts';
import { addStackMetrics } from './monitoring/metrics.ts';
import { addSavedQueries } from './monitoring/queries.ts';
import { Release } from './release.ts';
import type { CompleteSettings } from './settings.ts';
import { addTables } from './tables.ts';

/**
 * The whole service: two tables, the function and its releases, the API and monitoring. The stack of the
 * stage `dev` is `PlantStore-dev`.
 */
export class PlantStoreStack extends Stack {
  /** @param commit the value of the output `Commit`. Default: no such output */
  constructor(app: App, settings: CompleteSettings, commit?: string) {
    const { ephemeral, stage } = settings;
    super(app, `PlantStore-${stage}`, {
      description: 'Plant Store, a serverless API',
      terminationProtection: !ephemeral,
      // CloudFormation passes them on to the resources. The template does not contain them.
      tags: { service: 'PlantStore', stage },
      // CDK reads `account` and `region` of the settings.
      env: settings,
    });

    const tables = addTables(this, settings);
    const lambda = addFunction(this, { ...settings, tables });
    const release = new Release(this, 'Release', { ...settings, lambda });
    // The cast is needed because CDK's class and interface have different types of `role`.
    const api = new Api(this, 'Api', { ...settings, liveAlias: release.liveAlias as IFunction });

    const resources = { tables, lambda, release, api };
    addStackMetrics({ ...resources, ...settings });
    const alarms = new Alarms(this, 'Alarms', { ...resources, ...settings });
    addDashboard(this, resources, alarms.all);
    addSavedQueries(this, resources);

    // The commands, the pipeline and the documents read these outputs by their names.
    new CfnOutput(this, 'ApiUrl', { value: api.url });
    if (api.domainTarget !== undefined) new CfnOutput(this, 'DomainTarget', { value: api.domainTarget });
    new CfnOutput(this, 'PlantsTableName', { value: tables.plants.tableName });
    new CfnOutput(this, 'AccessTokensTableName', { value: tables.accessTokens.tableName });
    new CfnOutput(this, 'AlarmTopicArn', { value: alarms.topic.topicArn });
    if (commit !== undefined) new CfnOutput(this, 'Commit', { value: commit });

    this.#setRemovalPolicies(ephemeral);
  }

  /**
   * Keeps tables, logs and the key after the stack is deleted, and old versions after an update. An ephemeral stack
   * keeps nothing.
   */
  #setRemovalPolicies(ephemeral: boolean): void {
    const set = (policy: RemovalPolicy, ...applyToResourceTypes: string[]) =>
      RemovalPolicies.of(this).apply(ephemeral ? RemovalPolicy.DESTROY : policy, { applyToResourceTypes });
    // The tables stay even if creating the stack fails: CloudFormation cannot delete a protected table.
    set(RemovalPolicy.RETAIN, 'AWS::DynamoDB::Table');
    // A failed creation deletes these. A leftover key costs money, and a leftover version blocks the next attempt.
    set(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE, 'AWS::Logs::LogGroup', 'AWS::Lambda::Version', 'AWS::KMS::Key');
  }
}
