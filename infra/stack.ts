import { CfnOutput, RemovalPolicies, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Api } from './api/api.ts';
import { OperationFunction } from './function/operation-function.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import { constructId, type GrantedOperation, grantedOperations } from './operations.ts';
import { Release } from './release/release.ts';
import type { StackSettings } from './settings.ts';
import { Tables } from './tables.ts';

interface PlantStoreStackProps extends StackSettings {
  /** @default the operations of openapi.yaml */
  operations?: GrantedOperation[];
}

/** The whole service: tables, a function for each operation, the API, and monitoring. */
export class PlantStoreStack extends Stack {
  constructor(scope: Construct, id: string, { operations = grantedOperations(), ...settings }: PlantStoreStackProps) {
    super(scope, id, { description: 'Plant Store, a serverless API' });
    const { throwaway, emulator } = settings;
    this.#setRemovalPolicies(throwaway);

    const tables = new Tables(this, 'Data', { throwaway });
    const functions = operations.map(
      (operation) => new OperationFunction(this, constructId(operation), { ...settings, operation, tables }),
    );
    const releases = emulator
      ? []
      : functions.map(
          (released) =>
            new Release(this, `${constructId(released.operation)}Release`, { ...settings, released, tables }),
        );
    const routes = emulator
      ? functions.map(({ operation, lambda }) => ({ operation, target: lambda }))
      : releases.map(({ released: { operation }, live }) => ({ operation, target: live }));
    const api = new Api(this, 'Api', { ...settings, routes });

    const output = (id: string, value: string) => new CfnOutput(this, id, { value });
    output('ApiUrl', api.url);
    for (const table of Object.values(tables.byName)) output(`${table.node.id}TableName`, table.tableName);
    for (const { operation, lambda } of functions) output(`${constructId(operation)}FunctionName`, lambda.functionName);
    if (!emulator) {
      const { topic } = new Monitoring(this, 'Monitoring', { ...settings, tables, functions, releases, api });
      output('AlarmTopicArn', topic.topicArn);
    }
  }

  #setRemovalPolicies(throwaway: boolean): void {
    const keep = (policy: RemovalPolicy, ...applyToResourceTypes: string[]) =>
      RemovalPolicies.of(this).apply(throwaway ? RemovalPolicy.DESTROY : policy, { applyToResourceTypes });
    // Also after a failed creation: CloudFormation cannot delete a protected table, and would be stuck.
    keep(RemovalPolicy.RETAIN, 'AWS::DynamoDB::Table');
    // Logs, the versions to roll back to, and the key of the alarms are kept like the data. A failed creation deletes
    // them: a key costs money, and Lambda would refuse to publish a version that is still there.
    keep(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE, 'AWS::Logs::LogGroup', 'AWS::Lambda::Version', 'AWS::KMS::Key');
  }
}
