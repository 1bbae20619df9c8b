import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { CfnFunction, IVersion } from 'aws-cdk-lib/aws-lambda';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { NamedTable } from './data.ts';
import { loggedFunction } from './logged-function.ts';
import type { OperationFunction } from './operation-function.ts';

/**
 * The function that CodeDeploy calls before it moves traffic to a new version: it asks that version by the smoke's
 * rules. It may call the versions of this one function, issue and withdraw its own access token, and report.
 *
 * Defaults: 2 minutes, of which a sound version needs a few seconds; its log is kept for a month.
 */
export class BeforeTraffic extends Construct {
  readonly lambda: NodejsFunction;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, asked: OperationFunction, version: IVersion, tables: NamedTable[]) {
    super(scope, id);
    const { operation } = asked;
    const accessTokens = tables.find(({ name }) => name === 'accessTokens')?.table;
    if (!accessTokens) throw new Error('The stack has no table of access tokens.');
    const { lambda, role, logGroup } = loggedFunction(this, {
      description: `Asks a new version of ${operation.method} ${operation.path} before it gets traffic`,
      entry: 'operate/smoke/before-traffic.ts',
      timeout: Duration.minutes(2),
      environment: {
        OPERATION_ID: operation.operationId,
        FUNCTION_VERSION_ARN: version.functionArn,
        ACCESS_TOKENS_TABLE_NAME: accessTokens.tableName,
      },
    });
    this.lambda = lambda;
    this.logGroup = logGroup;
    accessTokens.grant(role, 'dynamodb:PutItem', 'dynamodb:DeleteItem');
    role.addToPolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [`${asked.lambda.functionArn}:*`] }),
    );
    acknowledgeVersions(role, asked.lambda);
  }
}

/** Tells cdk-nag that a role may call each version of one function. */
export function acknowledgeVersions(role: IRole, { node }: NodejsFunction): void {
  const resource = node.defaultChild as CfnFunction;
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::<${Stack.of(role).resolve(resource.logicalId)}.Arn>:*]`,
    reason: 'They are the versions of one function; each release has a new one.',
  });
}
