import { type App, CfnOutput, RemovalPolicies, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { Api } from './api/api.ts';
import { CanaryRelease } from './canary-release.ts';
import { pascalCaseId } from './contract.ts';
import { type GrantedOperation, OperationFunction } from './functions.ts';
import { Alarms } from './monitoring/alarms.ts';
import { addDashboard } from './monitoring/dashboard.ts';
import { addRequestMetrics } from './monitoring/metrics.ts';
import { addSavedQueries } from './monitoring/queries.ts';
import { grantedOperations } from './operations.ts';
import type { StackSettings } from './settings.ts';
import { addTables } from './tables.ts';

interface PlantStoreStackProps extends StackSettings {
  /** The operations of the API. @default the operations of openapi.yaml */
  operations?: GrantedOperation[];
}

/**
 * The whole service: tables, one function per operation, the API and monitoring. The stack's name is `PlantStore`, or
 * `PlantStore-dev` for the stage `dev`. Ephemeral stacks have other names, so that they cannot replace another stack.
 */
export class PlantStoreStack extends Stack {
  constructor(app: App, { operations = grantedOperations(), ...settings }: PlantStoreStackProps) {
    const { ephemeral, stage } = settings;
    const name = `PlantStore${ephemeral ? 'Ephemeral' : ''}${stage === undefined ? '' : `-${stage}`}`;
    // Production is the stack without a stage.
    const terminationProtection = stage === undefined && !ephemeral;
    super(app, name, { description: 'Plant Store, a serverless API', terminationProtection });
    const setRemovalPolicy = (policy: RemovalPolicy, ...applyToResourceTypes: string[]) =>
      RemovalPolicies.of(this).apply(ephemeral ? RemovalPolicy.DESTROY : policy, { applyToResourceTypes });
    // The tables stay even if creating the stack fails: CloudFormation cannot delete a protected table.
    setRemovalPolicy(RemovalPolicy.RETAIN, 'AWS::DynamoDB::Table');
    // Deleted if creating the stack fails: a leftover key costs money, and a leftover version blocks the next attempt.
    setRemovalPolicy(
      RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      'AWS::Logs::LogGroup',
      'AWS::Lambda::Version',
      'AWS::KMS::Key',
    );

    const tables = addTables(this, settings);
    const deployed = operations.map((operation) => {
      const operationFunction = new OperationFunction(this, pascalCaseId(operation), {
        ...settings,
        operation,
        tables,
      });
      const props = { ...settings, operationFunction };
      const release = new CanaryRelease(this, `${pascalCaseId(operation)}Release`, props);
      return { operation, operationFunction, release };
    });
    const routes = deployed.map(({ operation, release }) => ({ operation, target: release.live }));
    const functions = deployed.map(({ operationFunction }) => operationFunction);
    const releases = deployed.map(({ release }) => release);
    const api = new Api(this, 'Api', { ...settings, routes });

    const output = (id: string, value: string) => new CfnOutput(this, id, { value });
    output('ApiUrl', api.url);
    for (const table of Object.values(tables)) output(`${table.node.id}Name`, table.tableName);
    for (const { operation, lambda } of functions)
      output(`${pascalCaseId(operation)}FunctionName`, lambda.functionName);

    const monitoring = new Construct(this, 'Monitoring');
    const monitoredResources = { tables, functions, releases, api };
    addRequestMetrics(monitoredResources);
    const alarms = new Alarms(monitoring, 'Alarms', { ...settings, ...monitoredResources });
    addDashboard(monitoring, monitoredResources, alarms.all);
    addSavedQueries(monitoring, monitoredResources);
    output('AlarmTopicArn', alarms.topic.topicArn);
  }
}
