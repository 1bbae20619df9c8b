import { join } from 'node:path';
import { Duration, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogLevel, NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Variables } from '../functions/environment.ts';
import { FUNCTION_TIMEOUT_MS } from '../functions/time-limits.ts';
import type { CompleteSettings } from './settings.ts';
import type { Tables } from './tables.ts';

const projectRoot = join(import.meta.dirname, '..');

interface FunctionProps extends Pick<CompleteSettings, 'allowOrigins' | 'identityProvider'> {
  tables: Tables;
}

export function addFunction(
  scope: Construct,
  { tables, allowOrigins, identityProvider }: FunctionProps,
): NodejsFunction {
  const { region, urlSuffix } = Stack.of(scope);
  const logGroup = new LogGroup(scope, 'FunctionLogs', { retention: RetentionDays.ONE_MONTH });
  // CDK's default role could write to every log group of the account.
  const role = new Role(scope, 'FunctionRole', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
  logGroup.grantWrite(role);
  tables.plants.grant(role, 'dynamodb:PutItem');
  tables.accessTokens.grant(role, 'dynamodb:GetItem');
  return new NodejsFunction(scope, 'Function', {
    description: 'Serves the API of Plant Store',
    entry: join(projectRoot, 'functions/index.ts'),
    projectRoot,
    depsLockFilePath: join(projectRoot, 'package-lock.json'),
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    // With less memory, a cold start takes several times longer. With more, it still waits for DynamoDB.
    memorySize: 512,
    timeout: Duration.millis(FUNCTION_TIMEOUT_MS),
    // Without a log level: one above INFO would drop the lines that metrics count.
    loggingFormat: LoggingFormat.JSON,
    logGroup,
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
      // Without an identity provider, esbuild omits its code (functions/services.ts).
      define: identityProvider ? {} : { 'process.env.TOKEN_ISSUER': 'undefined' },
      esbuildArgs: { '--alias:node:http': './functions/node-http.cjs' },
    },
  });
}
