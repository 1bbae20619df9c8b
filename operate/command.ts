import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** What a shell tells of a program that SIGPIPE ended: 128 + 13. Node ignores that signal and fails with EPIPE instead. */
const STATUS_OF_SIGPIPE = 141;

/** What is wrong with a command's arguments, in a sentence; the command ends with it and its usage. */
export class WrongArguments extends Error {}

interface CommandLine<Options extends ParseArgsOptionsConfig> {
  /** Printed for `--help`, and after what is wrong. */
  usage: string;
  /** As `parseArgs` of node:util takes them; none by default. */
  options?: Options;
  /** The names of the arguments that are no options, in their order; those in brackets may be left out. */
  operands?: string[];
}

type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true }>
>['values'];

/**
 * Runs a command-line tool's body with the arguments that the tool was given. `--help` prints the usage. A failure
 * becomes its sentence on stderr and exit status 1. Where nobody reads its output any more, as after `| head`, it
 * ends quietly with exit status 141.
 */
export async function command<const Options extends ParseArgsOptionsConfig>(
  { usage, options, operands = [] }: CommandLine<Options>,
  body: (values: Values<Options>, operands: string[]) => Promise<void>,
): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endWhereNobodyReads);
  try {
    if (process.argv.includes('--help')) return console.log(usage);
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const missing = operands.slice(positionals.length).find((operand) => !operand.startsWith('['));
    if (missing !== undefined) throw new WrongArguments(`${missing} is missing.`);
    const [unexpected] = positionals.slice(operands.length);
    if (unexpected !== undefined) throw new WrongArguments(`There is no place for "${unexpected}".`);
    await body(values, positionals);
  } catch (error) {
    const sentence = error instanceof Error ? error.message : String(error);
    console.error(areWrongArguments(error) ? `${sentence}\n\n${usage}` : sentence);
    process.exitCode = 1;
  }
}

/** The value of an argument or a variable, where it matches. Throws a sentence where it does not. */
export function checked(name: string, value: string, pattern: RegExp, mustBe: string): string {
  if (pattern.test(value)) return value;
  throw new WrongArguments(`${name} was "${value}"; it must be ${mustBe}.`);
}

/** The number of a value in digits. Throws a sentence where it is none, or not from `min` to `max`. */
export function checkedNumber(name: string, value: string, min: number, max: number): number {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new WrongArguments(`${name} was "${value}"; it must be a number from ${min} to ${max}.`);
}

function areWrongArguments(error: unknown): boolean {
  if (error instanceof WrongArguments) return true;
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS_');
}

function endWhereNobodyReads(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(STATUS_OF_SIGPIPE);
}
