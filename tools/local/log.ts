/** The members of a request's line (functions/shared/middleware/request-log.ts) that are printed. */
interface RequestLine {
  operation: string;
  outcome: string;
  error?: number;
  durationMs: number;
  cause?: Cause;
}

/** An error as a plain object. */
interface Cause {
  stack?: string;
  cause?: Cause;
}

/** Makes `console` print one short line for each request, with the stacks of its causes if the request failed. */
export function shortenRequestLines(): void {
  for (const level of ['info', 'error'] as const) {
    const print = console[level];
    console[level] = (...values: unknown[]) => print(...(isRequestLine(values[0]) ? [shortLine(values[0])] : values));
  }
}

function isRequestLine(value: unknown): value is RequestLine {
  return value instanceof Object && 'operation' in value && 'outcome' in value && 'durationMs' in value;
}

function shortLine({ operation, outcome, error, durationMs, cause }: RequestLine): string {
  const line = `${operation} ${outcome}${error === undefined ? '' : ` with error ${error}`} in ${durationMs} ms`;
  return [line, ...stacksOf(cause)].join('\n');
}

function stacksOf(cause: Cause | undefined): string[] {
  return cause?.stack === undefined ? [] : [cause.stack, ...stacksOf(cause.cause)];
}
