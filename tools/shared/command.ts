import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { errorText } from './error-text.ts';
import { printable } from './printable.ts';

/** An error in the command line. `command` prints its message, then the usage. */
export class UsageError extends Error {}

interface CommandLine<Options extends ParseArgsOptionsConfig> {
  /** Printed for `--help` and after a UsageError. */
  usage: string;
  /** In the format of `parseArgs` of node:util. Default: none. */
  options?: Options;
  /** The names of the required positional arguments, in order. Default: none. */
  args?: string[];
  /** The names of further positional arguments. Default: none. */
  optionalArgs?: string[];
}

type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true }>
>['values'];

/**
 * Parses the command line and calls `run`. If that throws, prints the error (`errorText`) and sets exit status 1.
 *
 * @param run gets the values of the options by name, and the positional arguments
 */
export async function command<const Options extends ParseArgsOptionsConfig>(
  { usage, options, args = [], optionalArgs = [] }: CommandLine<Options>,
  run: (values: Values<Options>, positionals: string[]) => Promise<void>,
): Promise<void> {
  // Without a listener, a pipe that is closed early, as by `| head`, would end the process with a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(1));
  try {
    if (process.argv.includes('--help')) return console.log(usage);
    // Without "--" before an option, npm passes it on only as a variable: --dry-run would be lost, for example.
    const isPassed = (name: string) => process.argv.some((argument) => argument.startsWith(`--${name}`));
    const isKept = (name: string) => process.env[`npm_config_${name.replaceAll('-', '_')}`] && !isPassed(name);
    const kept = Object.keys(options ?? {}).find(isKept);
    if (kept) throw new UsageError(`npm did not pass on --${kept}; write "--" before it.`);
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const missing = args[positionals.length];
    if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
    const [unexpected] = positionals.slice(args.length + optionalArgs.length);
    if (unexpected !== undefined) throw new UsageError(`Unexpected argument "${unexpected}".`);
    await run(values, positionals);
  } catch (thrown) {
    const isUsageError = thrown instanceof UsageError || String(Object(thrown).code).startsWith('ERR_PARSE_ARGS_');
    console.error(printable(isUsageError ? `${(thrown as Error).message}\n\n${usage}` : errorText(thrown)));
    process.exitCode = 1;
  }
}

/**
 * Returns the value if it matches the pattern.
 *
 * @param expected completes the message "NAME was "VALUE"; it must be …"
 * @throws UsageError if it does not match
 */
export function checked(name: string, value: string, pattern: RegExp, expected: string): string {
  if (pattern.test(value)) return value;
  throw new UsageError(`${name} was "${value}"; it must be ${expected}.`);
}

/**
 * Parses decimal digits.
 *
 * @throws UsageError if the number is not from `min` to `max`
 */
export function checkedNumber(name: string, value: string, min: number, max: number): number {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(`${name} was "${value}"; it must be a number from ${min} to ${max}.`);
}
