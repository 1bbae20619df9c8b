import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import { LoggedFunction } from '../function/logged-function.ts';
import { type OperationFunction, type ServiceSettings, serviceVariables } from '../function/operation-function.ts';
import type { Tables } from '../tables.ts';

interface PreTrafficHookProps extends ServiceSettings {
  /** The function whose new versions the hook checks. */
  checked: OperationFunction;
  tables: Tables;
}

/**
 * The function that CodeDeploy invokes before it moves traffic to a new version: it checks that version. It can invoke
 * the versions of that one function, issue and delete access tokens of its own, and report.
 *
 * @default 2 minutes, of which a correct version needs a few seconds
 */
export class PreTrafficHook extends LoggedFunction {
  constructor(scope: Construct, id: string, { checked, tables, ...settings }: PreTrafficHookProps) {
    const { operation, lambda } = checked;
    const { accessTokens } = tables.byName;
    super(scope, id, {
      description: `Checks a new version of ${operation.method} ${operation.path} before it gets traffic`,
      entry: 'checks/pre-traffic-hook.ts',
      timeout: Duration.minutes(2),
      environment: {
        OPERATION_ID: operation.operationId,
        FUNCTION_ARN: lambda.functionArn,
        ACCESS_TOKENS_TABLE_NAME: accessTokens.tableName,
        ...serviceVariables(settings),
      },
    });
    accessTokens.grant(this.role, 'dynamodb:PutItem', 'dynamodb:DeleteItem');
    this.role.addToPolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [`${lambda.functionArn}:*`] }),
    );
    acknowledgeVersions(this.role, lambda);
  }
}

/** Tells cdk-nag why a role may invoke every version of a function. */
export function acknowledgeVersions(role: IRole, { node }: NodejsFunction): void {
  const resource = node.defaultChild as CfnFunction;
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::<${Stack.of(role).resolve(resource.logicalId)}.Arn>:*]`,
    reason: 'They are the versions of one function; each release has a new one.',
  });
}
