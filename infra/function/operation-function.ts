import { Duration, Validations } from 'aws-cdk-lib';
import { Tracing } from 'aws-cdk-lib/aws-lambda';
import { type NodejsFunction, SourceMapMode } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { esbuildOptions } from '../bundle/trimmings.ts';
import type { GrantedOperation } from '../operations.ts';
import type { StackContext } from '../settings.ts';
import type { NamedTable } from '../tables.ts';
import { loggedFunction } from './logged-function.ts';

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
    const { operation, tables, tokenIssuer } = props;
    this.operation = operation;
    const { lambda, role, logGroup } = loggedFunction(this, {
      description: `${operation.method} ${operation.path}`,
      entry: `functions/${operation.folder}/index.ts`,
      // The calls to DynamoDB end 4 s before this, and the gateway waits for 29 s.
      timeout: Duration.seconds(10),
      environment: serviceVariables(props),
      tracing: Tracing.ACTIVE,
      bundling: {
        externalModules: external,
        // Kept beside the bundle, not in it: with it, Node.js starts 15 ms later.
        sourceMap: true,
        sourceMapMode: SourceMapMode.EXTERNAL,
        commandHooks: {
          beforeInstall: () => [],
          beforeBundling: () => [],
          afterBundling: (root, output) => [
            `mv "${output}/index.mjs.map" "${output}/../${operation.folder}.mjs.map"`,
            ...(tokenIssuer ? bundleIdentityProvider(root, output) : []),
          ],
        },
        esbuildArgs: Object.fromEntries(Object.entries(alias).map(([name, file]) => [`--alias:${name}`, file])),
        define,
      },
    });
    this.lambda = lambda;
    this.logGroup = logGroup;
    for (const { name, table } of tables) {
      const actions = operation.grants[name];
      if (!actions) continue;
      table.grant(role, ...actions.map((action) => `dynamodb:${action}`));
      lambda.addEnvironment(`${snakeCase(name)}_TABLE_NAME`, table.tableName);
    }
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'X-Ray’s two write actions know no resources; the role has no other wildcard.',
    });
  }
}

/** A file beside the bundle, so that a function without an identity provider loads nothing of it. */
function bundleIdentityProvider(root: string, output: string): string[] {
  const options =
    '--bundle --platform=node --target=node24 --format=esm --minify --sourcemap=external --log-level=warning';
  const source = 'functions/shared/identity-provider.mts';
  const file = `${output}/identity-provider.mjs`;
  return [
    `"${root}/node_modules/.bin/esbuild" ${options} --outfile="${file}" "${root}/${source}"`,
    `mv "${file}.map" "${output}/.."`,
  ];
}

/** The environment variables that are the same for all operations. */
export function serviceVariables({ allowOrigins, tokenIssuer }: StackContext): Record<string, string> {
  const { issuer, audiences, scope } = tokenIssuer ?? {};
  return {
    ...(allowOrigins.length > 0 && { ALLOW_ORIGINS: allowOrigins.join() }),
    ...(issuer !== undefined && { TOKEN_ISSUER: issuer }),
    ...(audiences && { TOKEN_AUDIENCE: audiences.join() }),
    ...(scope !== undefined && { TOKEN_SCOPE: scope }),
  };
}

/** A name in camel case as that of an environment variable. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, '_$&').toUpperCase();
}
