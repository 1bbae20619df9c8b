import { CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { Api } from './api.ts';
import { CreatePlantFunction } from './create-plant-function.ts';
import { Data } from './data.ts';

interface PlantStoreStackProps {
  /** Whether `cdk destroy` removes everything, the data included. */
  throwaway: boolean;
}

/** The plant store: two tables, a function that writes to them, an API in front of it. */
export class PlantStoreStack extends Stack {
  constructor(scope: Construct, id: string, { throwaway }: PlantStoreStackProps) {
    super(scope, id, { description: 'POST /plants: a plant store' });
    const removalPolicy = throwaway ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN;

    const data = new Data(this, 'Data', { removalPolicy });
    const createPlant = new CreatePlantFunction(this, 'CreatePlant', { ...data, removalPolicy });
    const api = new Api(this, 'Api', { createPlant: createPlant.function });

    new CfnOutput(this, 'ApiUrl', {
      value: api.url,
      description: 'The base URL: plants are created at {ApiUrl}/plants',
    });
    new CfnOutput(this, 'PlantsTableName', { value: data.plants.tableName });
    new CfnOutput(this, 'AccessTokensTableName', { value: data.accessTokens.tableName });
    new CfnOutput(this, 'FunctionName', { value: createPlant.function.functionName });
  }
}
