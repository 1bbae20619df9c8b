import { Validations } from 'aws-cdk-lib';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { Alias, type IFunction, type IVersion } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { StackContext } from './context.ts';
import type { OperationFunction } from './operation-function.ts';

/**
 * What callers reach: the alias `live`, which a deployment moves to the new version
 * step by step, and back where an alarm goes off.
 *
 * Defaults: a tenth of the traffic for ten minutes, then all of it; in a throw-away stack all at once.
 */
export class Release extends Construct {
  readonly function: OperationFunction;
  readonly live: IFunction;
  readonly deployments: LambdaDeploymentGroup;

  constructor(scope: Construct, id: string, released: OperationFunction, { throwaway }: StackContext) {
    super(scope, id);
    this.function = released;
    // CDK's classes say `role: undefined` where its interfaces say `role?`; only the compiler minds.
    const version = released.lambda.currentVersion as IVersion;
    const alias = new Alias(this, 'Live', { aliasName: 'live', version });
    this.live = alias as IFunction;
    this.deployments = new LambdaDeploymentGroup(this, 'Deployments', {
      alias,
      deploymentConfig: throwaway
        ? LambdaDeploymentConfig.ALL_AT_ONCE
        : LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES,
    });
    Validations.of(this.deployments).acknowledge({
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
      reason: 'It is AWS’s own least set of permissions for CodeDeploy to move an alias.',
    });
  }
}
