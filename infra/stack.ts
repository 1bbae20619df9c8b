import { type App, CfnOutput, RemovalPolicies, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { Api } from './api/api.ts';
import { OperationFunction } from './functions.ts';
import { Alarms } from './monitoring/alarms.ts';
import { addDashboard } from './monitoring/dashboard.ts';
import { addRequestMetrics } from './monitoring/metrics.ts';
import { addSavedQueries } from './monitoring/queries.ts';
import { constructId, type GrantedOperation, grantedOperations } from './operations.ts';
import { Release } from './release.ts';
import type { StackSettings } from './settings.ts';
import { addTables } from './tables.ts';

interface PlantStoreStackProps extends StackSettings {
  /** @default the operations of openapi.yaml */
  operations?: GrantedOperation[];
}

/**
 * The whole service: tables, a function for each operation, the API, and monitoring. It is named as in `PlantStore-dev`;
 * an ephemeral stack has another name, so that it cannot replace a lasting stack.
 */
export class PlantStoreStack extends Stack {
  constructor(app: App, { operations = grantedOperations(), ...settings }: PlantStoreStackProps) {
    const { throwaway, emulator, stage, alarmEmail } = settings;
    const name = `PlantStore${throwaway ? 'Throwaway' : ''}${stage === undefined ? '' : `-${stage}`}`;
    super(app, name, { description: 'Plant Store, a serverless API' });
    const keep = (policy: RemovalPolicy, ...applyToResourceTypes: string[]) =>
      RemovalPolicies.of(this).apply(throwaway ? RemovalPolicy.DESTROY : policy, { applyToResourceTypes });
    // Also after a failed creation: CloudFormation cannot delete a protected table, and would be stuck.
    keep(RemovalPolicy.RETAIN, 'AWS::DynamoDB::Table');
    // Logs, the versions to roll back to, and the key of the alarms are kept like the data. A failed creation deletes
    // them: a key costs money, and Lambda would refuse to publish a version that is still there.
    keep(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE, 'AWS::Logs::LogGroup', 'AWS::Lambda::Version', 'AWS::KMS::Key');

    const tables = addTables(new Construct(this, 'Data'), settings);
    const functions = operations.map(
      (operation) => new OperationFunction(this, constructId(operation), { ...settings, operation, tables }),
    );
    const released = emulator ? [] : functions;
    const releases = released.map(
      (released) => new Release(this, `${constructId(released.operation)}Release`, { ...settings, released, tables }),
    );
    const routes = functions.map(({ operation, lambda }, n) => ({ operation, target: releases[n]?.live ?? lambda }));
    const api = new Api(this, 'Api', { ...settings, routes });

    const output = (id: string, value: string) => new CfnOutput(this, id, { value });
    output('ApiUrl', api.url);
    for (const table of Object.values(tables)) output(`${table.node.id}TableName`, table.tableName);
    for (const { operation, lambda } of functions) output(`${constructId(operation)}FunctionName`, lambda.functionName);

    if (emulator) return;
    const monitoring = new Construct(this, 'Monitoring');
    const monitored = { tables, functions, releases, api };
    addRequestMetrics(monitored);
    const alarms = new Alarms(monitoring, 'Alarms', { ...monitored, alarmEmail });
    addDashboard(monitoring, monitored, alarms.all);
    addSavedQueries(monitoring, monitored);
    output('AlarmTopicArn', alarms.topic.topicArn);
  }
}
