import { Stack } from 'aws-cdk-lib';
import { EndpointType, LambdaIntegration, RestApi } from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { answerInContract } from './gateway-responses.ts';

interface ApiProps {
  createPlant: IFunction;
}

/**
 * The API's routes: a regional REST API, since an HTTP API's own answers cannot be given the
 * contract's shape.
 *
 * Defaults: stage `v1`, X-Ray, no account-wide CloudWatch role.
 */
export class Api extends Construct {
  /** The base URL, without a slash at its end. */
  readonly url: string;

  constructor(scope: Construct, id: string, { createPlant }: ApiProps) {
    super(scope, id);
    const api = new RestApi(this, 'RestApi', {
      restApiName: Stack.of(this).stackName,
      description: 'Plant Store: POST /plants',
      endpointTypes: [EndpointType.REGIONAL],
      // As text, bytes that are no UTF-8 reach the function as U+FFFD; as base64 it sees and refuses them.
      binaryMediaTypes: ['application/json'],
      deployOptions: { stageName: 'v1', tracingEnabled: true },
      cloudWatchRole: false,
    });
    // CDK's own output of the URL; the stack has one under a stable name.
    api.node.tryRemoveChild('Endpoint');
    answerInContract(api);
    api.root.addResource('plants').addMethod('POST', new LambdaIntegration(createPlant, { allowTestInvoke: false }));
    const { region, urlSuffix } = Stack.of(this);
    this.url = `https://${api.restApiId}.execute-api.${region}.${urlSuffix}/${api.deploymentStage.stageName}`;
  }
}
