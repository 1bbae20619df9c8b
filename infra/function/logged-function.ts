import { join } from 'node:path';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogLevel, NodejsFunction, type NodejsFunctionProps, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

const root = join(import.meta.dirname, '../..');

interface LoggedFunctionProps extends NodejsFunctionProps {
  /** Path of the source, from the project's root. */
  entry: string;
}

/**
 * A bundled function with a log group of its own, and a role that can write to that log group only.
 *
 * @default Node.js 24 on arm64, 512 MB, an ESM bundle that contains the AWS SDK, JSON logs that are kept for a month
 */
export class LoggedFunction extends Construct {
  readonly lambda: NodejsFunction;
  readonly role: Role;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, { entry, bundling, ...props }: LoggedFunctionProps) {
    super(scope, id);
    this.logGroup = new LogGroup(this, 'Logs', { retention: RetentionDays.ONE_MONTH });
    // The role that CDK would make could write to every log group of the account.
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.lambda = new NodejsFunction(this, 'Function', {
      entry: join(root, entry),
      projectRoot: root,
      depsLockFilePath: join(root, 'package-lock.json'),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      awsSdkConnectionReuse: false,
      loggingFormat: LoggingFormat.JSON,
      logGroup: this.logGroup,
      role: this.role,
      bundling: {
        format: OutputFormat.ESM,
        // CommonJS files break at import in an ESM bundle.
        mainFields: ['module', 'main'],
        // In place of CDK's own list, which leaves the SDK out: to load the runtime's SDK file by file is slower.
        externalModules: [],
        logLevel: LogLevel.WARNING,
        ...bundling,
      },
      ...props,
    });
    this.logGroup.grantWrite(this.role);
  }
}
