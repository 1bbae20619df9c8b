import { inspect, type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { printable } from './printable.ts';

/** An error in the command line. `command` prints its message, then the usage. */
export class UsageError extends Error {}

/** The errors that JavaScript itself throws for a mistake in the code. A person needs their stack to find it. */
const MISTAKES = [TypeError, ReferenceError, RangeError, SyntaxError];

interface CommandLine<Options extends ParseArgsOptionsConfig> {
  /** Printed for `--help` and after a UsageError. */
  usage: string;
  /** In the format of `parseArgs` of node:util. Default: none. */
  options?: Options;
  /** The name of the positional argument, which is required. Default: there is none. */
  arg?: string;
}

type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true }>
>['values'];

/**
 * Parses the command line and calls `run`. If that throws, prints the error and sets exit status 1.
 *
 * @param run gets the values of the options by name, and the positional argument
 * @example
 * await command({ usage: USAGE, options: { stack: { type: 'string' } } }, async ({ stack }) => print(stack));
 */
export async function command<const Options extends ParseArgsOptionsConfig>(
  { usage, options, arg }: CommandLine<Options>,
  run: (values: Values<Options>, positional: string) => Promise<void>,
): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    // If nothing listens, an error ends with a stack trace.
    stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      // Only a pipe that is closed early, as by `| head`, needs no sentence.
      if (code !== 'EPIPE') console.error(`The output cannot be written: ${message}`);
      process.exit(1);
    });
  }
  try {
    if (process.argv.includes('--help')) return console.log(usage);
    rejectOptionsTakenByNpm(Object.keys(options ?? {}));
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (arg && positionals.length === 0) throw new UsageError(`${arg} is missing.`);
    const unexpected = positionals.at(arg ? 1 : 0);
    if (unexpected !== undefined) throw new UsageError(`Unexpected argument "${unexpected}".`);
    await run(values, positionals[0] ?? '');
  } catch (thrown) {
    console.error(printable(errorText(thrown, usage)));
    process.exitCode = 1;
  }
}

/** Throws if npm kept an option, as it does without "--" before it. Without --stack, a command uses the local run. */
function rejectOptionsTakenByNpm(names: string[]): void {
  const isPassed = (name: string) => process.argv.some((argument) => argument.startsWith(`--${name}`));
  const kept = names.find((name) => process.env[`npm_config_${name}`] && !isPassed(name));
  if (kept) throw new UsageError(`npm did not pass on --${kept}; write "--" before it.`);
}

function errorText(thrown: unknown, usage: string): string {
  const { message, code } = Object(thrown);
  const isUsageError = thrown instanceof UsageError || String(code).startsWith('ERR_PARSE_ARGS_');
  // After its first sentence, Node.js explains how to pass an argument that begins with a dash. Nothing here takes one.
  if (isUsageError) return `${message.replace(/ To specify a positional argument .*/s, '')}\n\n${usage}`;
  const isMistake = MISTAKES.some((type) => thrown instanceof type);
  return isMistake || !message ? inspect(thrown) : message;
}

/** Returns the value if it matches the pattern. Otherwise throws a UsageError, which says what was expected. */
export function requireMatch(name: string, value: string, pattern: RegExp, expected: string): string {
  if (pattern.test(value)) return value;
  throw new UsageError(`${name} was "${value}"; it must be ${expected}.`);
}
