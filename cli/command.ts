import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

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

/** Runs a command-line tool with its arguments. If it throws, prints the error's message and sets exit status 1. */
export async function command<const Options extends ParseArgsOptionsConfig>(
  { usage, options, operands = [] }: CommandLine<Options>,
  run: (values: Values<Options>, operands: string[]) => Promise<void>,
): Promise<void> {
  // Without a listener, a closed pipe, as in `| head`, ends the process with a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit(1));
  try {
    if (process.argv.includes('--help')) return console.log(usage);
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const missing = operands.slice(positionals.length).find((operand) => !operand.startsWith('['));
    if (missing !== undefined) throw new WrongArguments(`${missing} is missing.`);
    const [unexpected] = positionals.slice(operands.length);
    if (unexpected !== undefined) throw new WrongArguments(`Unexpected argument "${unexpected}".`);
    await run(values, positionals);
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const isUsageError = error instanceof WrongArguments || String(code).startsWith('ERR_PARSE_ARGS_');
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
  const expected = `a number from ${min} to ${max}`;
  const number = Number(checked(name, value, /^\d+$/, expected));
  if (number >= min && number <= max) return number;
  throw new WrongArguments(`${name} was "${value}"; it must be ${expected}.`);
}
