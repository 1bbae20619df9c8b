import type { App } from 'aws-cdk-lib';

/** What can be set with `-c KEY=VALUE`; the README lists it. */
export interface StackContext {
  /** `throwaway`: a stack that `cdk destroy` removes whole, data included. Default: false. */
  throwaway: boolean;
}

/** Reads all context keys of the app. Throws a sentence that names the key where a value is not of its kind. */
export function readContext(app: App): StackContext {
  return { throwaway: flag(app, 'throwaway') };
}

function flag(app: App, key: string): boolean {
  const value: unknown = app.node.tryGetContext(key) ?? false;
  // From the command line it is a string, from cdk.json a boolean.
  if (String(value) === 'true') return true;
  if (String(value) === 'false') return false;
  throw new Error(`The context key "${key}" was ${JSON.stringify(value)}; it must be true or false.`);
}
