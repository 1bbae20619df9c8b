import { join } from 'node:path';
import { Duration } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogLevel, NodejsFunction, type NodejsFunctionProps, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Action } from '../functions/shared/dynamodb/actions.ts';
import type { Variables } from '../functions/shared/environment.ts';
import { FUNCTION_TIMEOUT_MS } from '../functions/shared/time-limits.ts';
import type { Operation } from './contract.ts';
import { projectRoot } from './project-root.ts';
import type { StackSettings } from './settings.ts';
import { type TableId, tableVariable } from './table-keys.ts';
import type { Tables } from './tables.ts';

interface LoggedFunctionProps extends NodejsFunctionProps {
  /** Path of the source file, from the project's root. */
  entry: string;
}

/**
 * A bundled function with its own log group and a role that can write only to that log group.
 *
 * By default: Node.js 24 on arm64, 512 MB, an ESM bundle that contains the AWS SDK, JSON logs kept for one month.
 */
export class LoggedFunction extends Construct {
  readonly lambda: NodejsFunction;
  readonly role: Role;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, { entry, bundling, ...props }: LoggedFunctionProps) {
    super(scope, id);
    this.logGroup = new LogGroup(this, 'Logs', { retention: RetentionDays.ONE_MONTH });
    // CDK's default role could write to every log group of the account.
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.lambda = new NodejsFunction(this, 'Function', {
      entry: join(projectRoot, entry),
      projectRoot,
      depsLockFilePath: join(projectRoot, 'package-lock.json'),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      awsSdkConnectionReuse: false,
      loggingFormat: LoggingFormat.JSON,
      logGroup: this.logGroup,
      role: this.role,
      bundling: {
        format: OutputFormat.ESM,
        // Prefers ES modules: CommonJS files in an ESM bundle fail at import.
        mainFields: ['module', 'main'],
        // CDK excludes the SDK by default. Loading the runtime's SDK, file by file, is slower than bundling it.
        externalModules: [],
        logLevel: LogLevel.WARNING,
        ...bundling,
      },
      ...props,
    });
    this.logGroup.grantWrite(this.role);
  }
}

/** An operation of the contract, and what its function may use. */
export interface GrantedOperation extends Operation {
  /** Actions on the tables. */
  grants: Partial<Record<TableId, Action[]>>;
  /** Adds other resources to the operation's construct, and gives its function access (docs/changing.md). @default none */
  resources?: (construct: OperationFunction) => void;
}

interface OperationFunctionProps extends StackSettings {
  /** The operation, its source folder and the actions that its function may use on the tables. */
  operation: GrantedOperation;
  /** The tables of the stack. The function gets access only to those in the operation's grants. */
  tables: Tables;
}

/**
 * The function of an operation. Its role allows the actions in infra/grants.ts and its own log.
 * Environment variables such as `PLANTS_TABLE_NAME` contain the table names.
 */
export class OperationFunction extends LoggedFunction {
  readonly operation: GrantedOperation;

  constructor(scope: Construct, id: string, props: OperationFunctionProps) {
    const { operation, tables, tokenIssuer, allowOrigins } = props;
    super(scope, id, {
      description: `${operation.method} ${operation.path}`,
      entry: `${operation.folder}/index.ts`,
      timeout: Duration.millis(FUNCTION_TIMEOUT_MS),
      environment: {
        ...(allowOrigins.length > 0 && ({ ALLOW_ORIGINS: allowOrigins.join() } satisfies Variables)),
        ...tokenVariables(props),
      },
      bundling: {
        // Without an identity provider, esbuild omits its code (functions/shared/init.ts).
        define: tokenIssuer === undefined ? { 'process.env.TOKEN_ISSUER': 'undefined' } : {},
        esbuildArgs: { '--alias:node:http': './infra/bundle/node-http.ts' },
        // CommonJS packages call `require`, which an ES module does not have.
        banner: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
      },
    });
    this.operation = operation;
    for (const id of Object.keys(operation.grants) as TableId[]) {
      const actions = operation.grants[id]?.map((action) => `dynamodb:${action}`) ?? [];
      tables[id].grant(this.role, ...actions);
      this.lambda.addEnvironment(tableVariable(id), tables[id].tableName);
    }
    operation.resources?.(this);
  }
}

/** The settings of the identity provider, as environment variables. */
export function tokenVariables({ tokenIssuer, tokenAudience, tokenScope }: StackSettings) {
  return {
    ...(tokenIssuer !== undefined && ({ TOKEN_ISSUER: tokenIssuer } satisfies Variables)),
    ...(tokenAudience !== undefined && ({ TOKEN_AUDIENCE: tokenAudience } satisfies Variables)),
    ...(tokenScope !== undefined && ({ TOKEN_SCOPE: tokenScope } satisfies Variables)),
  };
}
