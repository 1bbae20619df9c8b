import { join } from 'node:path';
import { Duration, Validations } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda';
import { LogLevel, NodejsFunction, OutputFormat, SourceMapMode } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { esbuildOptions } from './bundle/trimmings.ts';
import type { StackContext } from './context.ts';
import type { NamedTable } from './data.ts';
import type { GrantedOperation } from './operations.ts';

const { alias, define, external } = esbuildOptions();

interface OperationFunctionProps extends StackContext {
  operation: GrantedOperation;
  tables: NamedTable[];
}

/**
 * The function of an operation, bundled with its SDK, and all that it may touch: what infra/operations.ts grants it on
 * the tables, its own logs and traces. It is told the names of the tables that it may use, as in `PLANTS_TABLE_NAME`.
 *
 * Defaults: Node.js 24 on arm64, 512 MB, 10 s, JSON logs kept for a month, X-Ray.
 */
export class OperationFunction extends Construct {
  readonly operation: GrantedOperation;
  readonly lambda: NodejsFunction;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: OperationFunctionProps) {
    super(scope, id);
    const { operation, tables, allowOrigins } = props;
    const root = join(import.meta.dirname, '..');
    this.operation = operation;
    this.logGroup = new LogGroup(this, 'Logs', { retention: RetentionDays.ONE_MONTH });
    // The role that CDK would make could write to every log group of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.lambda = new NodejsFunction(this, 'Function', {
      description: `${operation.method} ${operation.path}`,
      entry: join(root, 'functions', operation.folder, 'index.ts'),
      projectRoot: root,
      depsLockFilePath: join(root, 'package-lock.json'),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      // The calls to DynamoDB end 4 s before this, and the gateway waits for 29 s.
      timeout: Duration.seconds(10),
      environment: allowOrigins.length > 0 ? { ALLOW_ORIGINS: allowOrigins.join() } : {},
      awsSdkConnectionReuse: false,
      loggingFormat: LoggingFormat.JSON,
      logGroup: this.logGroup,
      tracing: Tracing.ACTIVE,
      role,
      bundling: {
        format: OutputFormat.ESM,
        // The SDK's CommonJS files break at import in an ESM bundle.
        mainFields: ['module', 'main'],
        // In place of CDK's own list, which leaves the SDK out: loading the runtime's, file by file, is a slower cold start.
        externalModules: external,
        minify: true,
        // Kept beside the bundle, not in it: with it, Node.js starts 15 ms later.
        sourceMap: true,
        sourceMapMode: SourceMapMode.EXTERNAL,
        commandHooks: {
          beforeInstall: () => [],
          beforeBundling: () => [],
          afterBundling: (_, output) => [`mv "${output}/index.mjs.map" "${output}/../${operation.folder}.mjs.map"`],
        },
        esbuildArgs: Object.fromEntries(Object.entries(alias).map(([name, file]) => [`--alias:${name}`, file])),
        define,
        logLevel: LogLevel.WARNING,
      },
    });
    this.logGroup.grantWrite(role);
    for (const { name, table } of tables) {
      const actions = operation.grants[name];
      if (!actions) continue;
      table.grant(role, ...actions.map((action) => `dynamodb:${action}`));
      this.lambda.addEnvironment(`${snakeCase(name)}_TABLE_NAME`, table.tableName);
    }
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'X-Ray’s two write actions know no resources; the role has no other wildcard.',
    });
  }
}

/** A name in camel case as that of an environment variable. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, '_$&').toUpperCase();
}
