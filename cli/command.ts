import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** The exit status that shells report for a program that SIGPIPE ended (128 + 13). */
const SIGPIPE_STATUS = 141;

/** An error in the arguments. Its message is printed with the usage. */
export class WrongArguments extends Error {}

interface CommandLine<Options extends ParseArgsOptionsConfig> {
  /** Printed for `--help` and after an error in the arguments. */
  usage: string;
  /** The options, as `parseArgs` of node:util has them. Default: none. */
  options?: Options;
  /** The names of the other arguments, in order. Those in brackets are optional. Default: none. */
  operands?: string[];
}

type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true }>
>['values'];

/**
 * Runs a command-line tool with its arguments. If it throws, prints the error's message and sets exit status 1. Ends the
 * process with status 141 if its output is not read any more, for example by `head`.
 */
export async function command<const Options extends ParseArgsOptionsConfig>(
  { usage, options, operands = [] }: CommandLine<Options>,
  run: (values: Values<Options>, operands: string[]) => Promise<void>,
): Promise<void> {
  // Without a listener, the console ignores that a disk is full, and a closed pipe ends the process with a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endProcess);
  try {
    if (process.argv.includes('--help')) return console.log(usage);
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const missing = operands.slice(positionals.length).find((operand) => !operand.startsWith('['));
    if (missing !== undefined) throw new WrongArguments(`${missing} is missing.`);
    if (positionals.length > operands.length) {
      throw new WrongArguments(`Unexpected argument "${positionals[operands.length]}".`);
    }
    await run(values, positionals);
  } catch (error) {
    const { message = String(error), code = '' } = (error ?? {}) as NodeJS.ErrnoException;
    const isUsageError = error instanceof WrongArguments || code.startsWith('ERR_PARSE_ARGS_');
    console.error(isUsageError ? `${message}\n\n${usage}` : message);
    process.exitCode = 1;
  }
}

/** Returns the value if it matches. Throws what is expected if not. */
export function checked(name: string, value: string, pattern: RegExp, expected: string): string {
  if (pattern.test(value)) return value;
  throw new WrongArguments(`${name} was "${value}"; it must be ${expected}.`);
}

/** Returns the value as a number. Throws if it is not one in digits, from `min` to `max`. */
export function checkedNumber(name: string, value: string, min: number, max: number): number {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new WrongArguments(`${name} was "${value}"; it must be a number from ${min} to ${max}.`);
}

function endProcess(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(SIGPIPE_STATUS);
}
