type Variable =
  // The stack sets these.
  | 'PLANTS_TABLE_NAME'
  | 'ACCESS_TOKENS_TABLE_NAME'
  | 'AWS_ENDPOINT_URL_DYNAMODB'
  // The settings of the stage. ALLOW_ORIGINS and TOKEN_AUDIENCE are lists, separated by commas.
  | 'ALLOW_ORIGINS'
  | 'TOKEN_ISSUER'
  | 'TOKEN_AUDIENCE'
  | 'TOKEN_SCOPE'
  // Lambda sets these ("Using Lambda environment variables").
  | 'AWS_REGION'
  | 'AWS_ACCESS_KEY_ID'
  | 'AWS_SECRET_ACCESS_KEY'
  | 'AWS_SESSION_TOKEN';

export type Variables = Partial<Record<Variable, string>>;

/** Throws if the variable is missing or empty, so that init fails. */
export function environmentVariable(name: Variable): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is missing or empty; the stack or Lambda must set it.`);
  return value;
}

export function optionalVariable(name: Variable): string | undefined {
  return process.env[name] || undefined;
}
