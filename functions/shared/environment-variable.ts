/** Returns the value of an environment variable that the stack sets. Throws if it is missing, so that init fails. */
export function environmentVariable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is missing: it must be set by the stack.`);
  return value;
}
