import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { optionalVariable, type Variables } from '../../functions/environment.ts';
import { requireOrigins } from '../../infra/data/cors.ts';
import { tableIds, tableLogicalId, tableVariable } from '../../infra/data/table-keys.ts';
import { projectRoot } from '../project-root.ts';
import { LOCAL_CREDENTIALS, LOCAL_REGION } from './dynamodb.ts';
import { isLoopback } from './loopback.ts';

/** Returns the environment variables that the stack and Lambda set, and those that keep the AWS SDK on this machine. */
export function localVariables(endpoint: string): Record<string, string> {
  const ofFunctions: Variables = {
    ...Object.fromEntries(tableIds.map((id) => [tableVariable(id), tableLogicalId(id)])),
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: LOCAL_REGION,
    AWS_ACCESS_KEY_ID: LOCAL_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: LOCAL_CREDENTIALS.secretAccessKey,
  };
  return {
    ...ofFunctions,
    // Otherwise the SDK would read the person's profiles.
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    TZ: ':UTC',
  };
}

/** Sets the variables in the file `.env`, if there is one. Keeps those that are set. */
export function readEnvFile(folder = projectRoot): void {
  const file = join(folder, '.env');
  if (existsSync(file)) process.loadEnvFile(file);
}

/**
 * Replaces all AWS variables of this process, so that nothing of the person's AWS account reaches the functions. Keeps
 * the endpoints of emulators on this machine, such as AWS_ENDPOINT_URL_SQS.
 *
 * @throws if ALLOW_ORIGINS has an origin that the stack's settings would not allow
 */
export function useLocalEnvironment(endpoint: string): void {
  for (const [name, value] of Object.entries(process.env)) {
    if (!name.startsWith('AWS_')) continue;
    if (!(name.startsWith('AWS_ENDPOINT_URL_') && isLoopback(value))) delete process.env[name];
  }
  Object.assign(process.env, localVariables(endpoint));
  requireOrigins(optionalVariable('ALLOW_ORIGINS')?.split(',') ?? []);
}
