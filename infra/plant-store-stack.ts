import { CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Api } from './api.ts';
import type { StackContext } from './context.ts';
import { CreatePlantFunction } from './create-plant-function.ts';
import { Data } from './data.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import { Release } from './release.ts';

/** The plant store: two tables, a function that writes to them, an API in front of it, and who watches over them. */
export class PlantStoreStack extends Stack {
  constructor(scope: Construct, context: StackContext) {
    super(scope, stackName(context), { description: 'POST /plants: a plant store' });
    const removalPolicy = context.throwaway ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN;

    const data = new Data(this, 'Data', { removalPolicy });
    const createPlant = new CreatePlantFunction(this, 'CreatePlant', { ...data, ...context, removalPolicy });
    const release = context.emulator
      ? undefined
      : new Release(this, 'Release', { ...context, function: createPlant.function });
    const api = new Api(this, 'Api', { ...context, createPlant: release?.live ?? createPlant.function, removalPolicy });
    if (release) {
      const { rollBack } = new Monitoring(this, 'Monitoring', { ...context, data, createPlant, api, removalPolicy });
      release.rollBackOn(rollBack);
    }

    new CfnOutput(this, 'ApiUrl', {
      value: api.url,
      description: 'The base URL: plants are created at {ApiUrl}/plants',
    });
    new CfnOutput(this, 'PlantsTableName', { value: data.plants.tableName });
    new CfnOutput(this, 'AccessTokensTableName', { value: data.accessTokens.tableName });
    new CfnOutput(this, 'FunctionName', { value: createPlant.function.functionName });
  }
}

/** A throw-away stack has a name of its own: deployed over the lasting one, it would unprotect that one's data. */
function stackName({ throwaway, stage }: StackContext): string {
  return `PlantStore${throwaway ? 'Throwaway' : ''}${stage === undefined ? '' : `-${stage}`}`;
}
