/*
 * The environment variables of the functions: `infra/` sets them, and `tools/local/` for the local run.
 */

/** The variable with the name of a table: `ACCESS_TOKENS_TABLE_NAME` for `accessTokens` (model/table-keys.ts). */
export type TableVariable = `${string}_TABLE_NAME`;

/** `ALLOW_ORIGINS` and `TOKEN_AUDIENCE` are lists, separated by commas. */
type SettingVariable = 'ALLOW_ORIGINS' | 'TOKEN_ISSUER' | 'TOKEN_AUDIENCE' | 'TOKEN_SCOPE';

/**
 * The stack sets the endpoint, and Lambda the others ("Using Lambda environment variables"). The local run has no
 * session token.
 */
type AwsVariable =
  | `AWS_${'REGION' | 'ACCESS_KEY_ID' | 'SECRET_ACCESS_KEY' | 'SESSION_TOKEN'}`
  | 'AWS_ENDPOINT_URL_DYNAMODB';

type Variable = TableVariable | SettingVariable | AwsVariable;
export type Variables = Partial<Record<Variable, string>>;

/**
 * Returns the value of a variable.
 *
 * @param name one of those above, or your own, which the stack must set too
 * @throws if it is missing or empty, so that init fails
 */
export function environmentVariable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is missing: it must be set by the stack.`);
  return value;
}

/** Returns the value of a variable, or undefined if it is missing or empty. */
export function optionalVariable(name: Variable): string | undefined {
  return process.env[name] || undefined;
}
