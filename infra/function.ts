import { join } from 'node:path';
import { Duration, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogLevel, NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Variables } from '../functions/environment.ts';
import { FUNCTION_TIMEOUT_MS } from '../functions/time-limits.ts';
import type { StackSettings } from './settings.ts';
import type { Tables } from './tables.ts';

const projectRoot = join(import.meta.dirname, '..');

interface CreatePlantFunctionProps extends Pick<StackSettings, 'allowOrigins' | 'identityProvider'> {
  tables: Tables;
}

/** The function of `POST /plants`, with a log and a role of its own. */
export class CreatePlantFunction extends Construct {
  readonly lambda: NodejsFunction;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, { tables, allowOrigins, identityProvider }: CreatePlantFunctionProps) {
    super(scope, id);
    const { region, urlSuffix } = Stack.of(this);
    this.logGroup = new LogGroup(this, 'Logs', { retention: RetentionDays.ONE_MONTH });
    // CDK's default role could write to every log group of the account.
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.logGroup.grantWrite(role);
    tables.plants.grant(role, 'dynamodb:PutItem');
    tables.accessTokens.grant(role, 'dynamodb:GetItem');
    this.lambda = new NodejsFunction(this, 'Function', {
      description: 'POST /plants',
      entry: join(projectRoot, 'functions/create-plant/index.ts'),
      projectRoot,
      depsLockFilePath: join(projectRoot, 'package-lock.json'),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      timeout: Duration.millis(FUNCTION_TIMEOUT_MS),
      loggingFormat: LoggingFormat.JSON,
      logGroup: this.logGroup,
      role,
      environment: {
        PLANTS_TABLE_NAME: tables.plants.tableName,
        ACCESS_TOKENS_TABLE_NAME: tables.accessTokens.tableName,
        // Each partition has another suffix ("Amazon DynamoDB endpoints and quotas").
        AWS_ENDPOINT_URL_DYNAMODB: `https://dynamodb.${region}.${urlSuffix}`,
        ...(allowOrigins.length > 0 && { ALLOW_ORIGINS: allowOrigins.join() }),
        ...(identityProvider && {
          TOKEN_ISSUER: identityProvider.issuer,
          TOKEN_AUDIENCE: identityProvider.audiences.join(),
          ...(identityProvider.scope !== undefined && { TOKEN_SCOPE: identityProvider.scope }),
        }),
      } satisfies Variables,
      bundling: {
        format: OutputFormat.ESM,
        // Prefers ES modules, of which esbuild omits what nothing uses. By default, the bundle has 430 KB.
        mainFields: ['module', 'main'],
        // By default, CDK excludes @smithy, which the function imports. Loading the runtime's copy is slower.
        externalModules: [],
        logLevel: LogLevel.WARNING,
        // Without an identity provider, esbuild omits its code (functions/init.ts).
        define: identityProvider ? {} : { 'process.env.TOKEN_ISSUER': 'undefined' },
        esbuildArgs: { '--alias:node:http': './functions/node-http.cjs' },
      },
    });
  }
}
