/** The value of a variable that the stack sets; without it the function fails at init. */
export function environmentVariable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is missing: it must be set by the stack.`);
  return value;
}
