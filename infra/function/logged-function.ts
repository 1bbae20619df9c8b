import { join } from 'node:path';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import {
  type BundlingOptions,
  LogLevel,
  NodejsFunction,
  type NodejsFunctionProps,
  OutputFormat,
} from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

const root = join(import.meta.dirname, '../..');

interface LoggedFunction {
  lambda: NodejsFunction;
  role: Role;
  logGroup: LogGroup;
}

interface LoggedFunctionProps extends Omit<NodejsFunctionProps, 'bundling'> {
  /** Of the source, from the project's root. */
  entry: string;
  bundling?: BundlingOptions;
}

/**
 * A function, bundled with its SDK, which may write a log of its own and do nothing else yet. Their ids in the scope are
 * `Logs`, `Role` and `Function`.
 *
 * Defaults: Node.js 24 on arm64, 512 MB, JSON logs kept for a month.
 */
export function loggedFunction(scope: Construct, { entry, bundling, ...props }: LoggedFunctionProps): LoggedFunction {
  const logGroup = new LogGroup(scope, 'Logs', { retention: RetentionDays.ONE_MONTH });
  // The role that CDK would make could write to every log group of the account.
  const role = new Role(scope, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  const lambda = new NodejsFunction(scope, 'Function', {
    entry: join(root, entry),
    projectRoot: root,
    depsLockFilePath: join(root, 'package-lock.json'),
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: 512,
    awsSdkConnectionReuse: false,
    loggingFormat: LoggingFormat.JSON,
    logGroup,
    role,
    bundling: {
      format: OutputFormat.ESM,
      // The SDK's CommonJS files break at import in an ESM bundle.
      mainFields: ['module', 'main'],
      // In place of CDK's own list, which leaves the SDK out: loading the runtime's, file by file, is a slower cold start.
      externalModules: [],
      minify: true,
      logLevel: LogLevel.WARNING,
      ...bundling,
    },
    ...props,
  });
  logGroup.grantWrite(role);
  return { lambda, role, logGroup };
}
