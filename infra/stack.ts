import { type App, CfnOutput, RemovalPolicies, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { pascalCaseId } from '../model/contract.ts';
import { Api } from './api/api.ts';
import { CanaryRelease } from './canary-release.ts';
import { tableIds, tableOutput } from './data/table-keys.ts';
import { type GrantedOperation, OperationFunction } from './functions.ts';
import { grantedOperations } from './grants.ts';
import { Alarms } from './monitoring/alarms.ts';
import { addDashboard } from './monitoring/dashboard.ts';
import { addStackMetrics, type MonitoredResources } from './monitoring/metrics.ts';
import { addSavedQueries } from './monitoring/queries.ts';
import { PRODUCTION, type StackSettings } from './settings.ts';
import { addTables } from './tables.ts';

interface PlantStoreStackProps extends StackSettings {
  /** The operations of the API. @default the operations of openapi.yaml */
  operations?: GrantedOperation[];
}

/**
 * The whole service: tables, one function per operation, the API and monitoring. The stack of
 * production is `PlantStore`, that of the stage `dev` is `PlantStore-dev`.
 */
export class PlantStoreStack extends Stack {
  constructor(app: App, { operations = grantedOperations(), ...settings }: PlantStoreStackProps) {
    const { ephemeral, stage } = settings;
    const name = stage === PRODUCTION ? 'PlantStore' : `PlantStore-${stage}`;
    const terminationProtection = stage === PRODUCTION && !ephemeral;
    super(app, name, { description: 'Plant Store, a serverless API', terminationProtection });

    const tables = addTables(this, settings);
    const functions = operations.map(
      (operation) => new OperationFunction(this, pascalCaseId(operation), { ...settings, operation, tables }),
    );
    const releases = functions.map((operationFunction) => {
      const id = `${operationFunction.node.id}Release`;
      return new CanaryRelease(this, id, { ...settings, operationFunction });
    });
    // The cast is needed because CDK's class and interface have different types of `role`.
    const routes = releases.map(({ operation, live }) => ({ operation, target: live as IFunction }));
    const api = new Api(this, 'Api', { ...settings, routes });
    const resources = { tables, functions, releases, api };
    const alarms = this.#addMonitoring(resources, settings.alarms);
    this.#addOutputs(resources, alarms);
    this.#setRemovalPolicies(ephemeral);
  }

  #addMonitoring(resources: MonitoredResources, settings: StackSettings['alarms']): Alarms {
    const scope = new Construct(this, 'Monitoring');
    addStackMetrics(resources);
    const alarms = new Alarms(scope, 'Alarms', { ...resources, settings });
    addDashboard(scope, resources, alarms.all);
    addSavedQueries(scope, resources);
    return alarms;
  }

  #addOutputs({ api, tables, functions }: MonitoredResources, { topic }: Alarms): void {
    const add = (id: string, value: string) => new CfnOutput(this, id, { value });
    add('ApiUrl', api.url);
    for (const id of tableIds) add(tableOutput(id), tables[id].tableName);
    for (const { node, lambda } of functions) add(`${node.id}FunctionName`, lambda.functionName);
    add('AlarmTopicArn', topic.topicArn);
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
    // Deleted if creating the stack fails: a leftover key costs money, and a leftover version blocks the next attempt.
    set(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE, 'AWS::Logs::LogGroup', 'AWS::Lambda::Version', 'AWS::KMS::Key');
  }
}
