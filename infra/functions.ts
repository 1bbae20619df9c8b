import { join } from 'node:path';
import { Duration, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogLevel, NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Variables } from '../functions/environment.ts';
import { FUNCTION_TIMEOUT_MS } from '../functions/time-limits.ts';
import type { Operation } from '../model/contract.ts';
import { type TableId, tableVariable } from './data/table-keys.ts';
import type { StackSettings } from './settings.ts';
import type { Tables } from './tables.ts';

const projectRoot = join(import.meta.dirname, '..');

/** An operation of the contract, and what its function may use. */
export interface GrantedOperation extends Operation {
  /** Actions on the tables. */
  grants: Partial<Record<TableId, ('GetItem' | 'PutItem')[]>>;
  /**
   * Adds other resources to the operation's construct, and gives its function access (docs/changing.md). @default none
   */
  addResources?: (construct: OperationFunction) => void;
}

/** The settings that the functions get as environment variables. */
type FunctionSettings = Pick<StackSettings, 'allowOrigins' | 'identityProvider'>;

interface OperationFunctionProps extends FunctionSettings {
  /** The operation, its source folder and the actions that its function may use on the tables. */
  operation: GrantedOperation;
  /** The tables of the stack. The function gets access only to those in the operation's grants. */
  tables: Tables;
}

/**
 * The function of an operation, with a log of its own. Its role allows the actions in infra/grants.ts, and to write to
 * that log. Environment variables such as `PLANTS_TABLE_NAME` contain the table names.
 */
export class OperationFunction extends Construct {
  readonly operation: GrantedOperation;
  readonly lambda: NodejsFunction;
  readonly role: Role;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: OperationFunctionProps) {
    super(scope, id);
    const { operation, tables } = props;
    const { region, urlSuffix } = Stack.of(this);
    this.operation = operation;
    this.logGroup = new LogGroup(this, 'Logs', { retention: RetentionDays.ONE_MONTH });
    // CDK's default role could write to every log group of the account.
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.logGroup.grantWrite(this.role);
    this.lambda = new NodejsFunction(this, 'Function', {
      description: `${operation.method} ${operation.path}`,
      entry: join(projectRoot, operation.folder, 'index.ts'),
      projectRoot,
      depsLockFilePath: join(projectRoot, 'package-lock.json'),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      timeout: Duration.millis(FUNCTION_TIMEOUT_MS),
      loggingFormat: LoggingFormat.JSON,
      logGroup: this.logGroup,
      role: this.role,
      environment: {
        // Each partition has another suffix ("Amazon DynamoDB endpoints and quotas").
        AWS_ENDPOINT_URL_DYNAMODB: `https://dynamodb.${region}.${urlSuffix}`,
        ...settingVariables(props),
      } satisfies Variables,
      bundling: {
        format: OutputFormat.ESM,
        // Prefers ES modules: CommonJS files in an ESM bundle fail at import.
        mainFields: ['module', 'main'],
        // CDK excludes the SDK by default. Loading the runtime's SDK, file by file, is slower than bundling it.
        externalModules: [],
        logLevel: LogLevel.WARNING,
        // Without an identity provider, esbuild omits its code (functions/init.ts).
        define: props.identityProvider ? {} : { 'process.env.TOKEN_ISSUER': 'undefined' },
        esbuildArgs: { '--alias:node:http': './infra/node-http.cjs' },
        // CommonJS packages call `require`, which an ES module does not have.
        banner: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
      },
    });
    for (const id of Object.keys(operation.grants) as TableId[]) {
      const actions = operation.grants[id]?.map((action) => `dynamodb:${action}`) ?? [];
      tables[id].grant(this.role, ...actions);
      this.lambda.addEnvironment(tableVariable(id), tables[id].tableName);
    }
    operation.addResources?.(this);
  }
}

function settingVariables({ allowOrigins, identityProvider }: FunctionSettings) {
  return {
    ...(allowOrigins.length > 0 && { ALLOW_ORIGINS: allowOrigins.join() }),
    ...(identityProvider && {
      TOKEN_ISSUER: identityProvider.issuer,
      TOKEN_AUDIENCE: identityProvider.audiences.join(),
      ...(identityProvider.scope !== undefined && { TOKEN_SCOPE: identityProvider.scope }),
    }),
  } satisfies Variables;
}
