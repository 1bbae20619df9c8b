import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { type IRole, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { loggedFunction } from '../function/logged-function.ts';
import { type OperationFunction, serviceVariables } from '../function/operation-function.ts';
import type { StackContext } from '../settings.ts';
import type { NamedTable } from '../tables.ts';

interface PreTrafficHookProps extends StackContext {
  /** The operation whose new versions it checks. */
  checked: OperationFunction;
  tables: NamedTable[];
}

/**
 * The function that CodeDeploy invokes before it moves traffic to a new version: it checks that version. It may invoke
 * the versions of that one function, issue and delete access tokens of its own, and report.
 *
 * Defaults: 2 minutes, of which a correct version needs a few seconds; logs are kept for a month.
 */
export class PreTrafficHook extends Construct {
  readonly lambda: NodejsFunction;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, { checked, tables, ...context }: PreTrafficHookProps) {
    super(scope, id);
    const { operation } = checked;
    const accessTokens = tables.find(({ name }) => name === 'accessTokens')?.table;
    if (!accessTokens) throw new Error('The stack has no table of access tokens.');
    const { lambda, role, logGroup } = loggedFunction(this, {
      description: `Checks a new version of ${operation.method} ${operation.path} before it gets traffic`,
      entry: 'operate/smoke/pre-traffic-hook.ts',
      timeout: Duration.minutes(2),
      environment: {
        OPERATION_ID: operation.operationId,
        FUNCTION_ARN: checked.lambda.functionArn,
        ACCESS_TOKENS_TABLE_NAME: accessTokens.tableName,
        ...serviceVariables(context),
      },
    });
    this.lambda = lambda;
    this.logGroup = logGroup;
    accessTokens.grant(role, 'dynamodb:PutItem', 'dynamodb:DeleteItem');
    role.addToPolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [`${checked.lambda.functionArn}:*`] }),
    );
    acknowledgeVersions(role, checked.lambda);
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
