import { CfnOutput, RemovalPolicies, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { Api } from './api/api.ts';
import { OperationFunction } from './function/operation-function.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import { grantedOperations, ownId, pascalCase } from './operations.ts';
import { Release } from './release/release.ts';
import type { StackContext } from './settings.ts';
import { createTables } from './tables.ts';

/** The whole service: its tables, a function for each operation, an API in front of them, and what watches over them. */
export class PlantStoreStack extends Stack {
  constructor(scope: Construct, context: StackContext, operations = grantedOperations()) {
    super(scope, stackName(context), { description: 'Plant Store, a serverless API' });
    const keep = (policy: RemovalPolicy, ...applyToResourceTypes: string[]) =>
      RemovalPolicies.of(this).apply(context.throwaway ? RemovalPolicy.DESTROY : policy, { applyToResourceTypes });
    // After a creation that failed too: CloudFormation could not delete a protected table, and would be stuck.
    keep(RemovalPolicy.RETAIN, 'AWS::DynamoDB::Table');
    // What is needed with the data: logs, the versions that a release goes back to, the key of the alarms. What a
    // creation made that failed goes with it: a key is billed, and a version that stays could not be published again.
    keep(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE, 'AWS::Logs::LogGroup', 'AWS::Lambda::Version', 'AWS::KMS::Key');

    // `Data` is a part of the tables' logical ids; without it CloudFormation would make new, empty tables.
    const tables = createTables(new Construct(this, 'Data'), context.throwaway, operations);
    const functions = operations.map(
      (operation) => new OperationFunction(this, pascalCase(operation.operationId), { ...context, operation, tables }),
    );
    const releases = context.emulator
      ? []
      : functions.map((each) => new Release(this, ownId(each.operation, 'Release'), each, tables, context));
    const routes = context.emulator
      ? functions.map(({ operation, lambda }) => ({ operation, target: lambda }))
      : releases.map(({ function: { operation }, live }) => ({ operation, target: live }));
    const api = new Api(this, 'Api', { ...context, routes });

    const output = (id: string, value: string) => new CfnOutput(this, id, { value });
    output('ApiUrl', api.url);
    for (const { name, table } of tables) output(`${pascalCase(name)}TableName`, table.tableName);
    for (const { operation, lambda } of functions) output(ownId(operation, 'FunctionName'), lambda.functionName);
    if (!context.emulator) {
      const { topic } = new Monitoring(this, 'Monitoring', { ...context, tables, functions, releases, api });
      output('AlarmTopicArn', topic.topicArn);
    }
  }
}

/** A throw-away stack has a name of its own: deployed over the lasting one, it would unprotect that one's data. */
function stackName({ throwaway, stage }: StackContext): string {
  return `PlantStore${throwaway ? 'Throwaway' : ''}${stage === undefined ? '' : `-${stage}`}`;
}
