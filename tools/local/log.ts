/** The line that functions/shared/middleware/request-log.ts logs for each request. `cause` is a plain object. */
interface RequestLine {
  operation: string;
  outcome: string;
  error?: number;
  durationMs: number;
  cause?: Error;
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
  let line = `${operation} ${outcome}${error === undefined ? '' : ` with error ${error}`} in ${durationMs} ms`;
  for (let each: unknown = cause; each instanceof Object && 'stack' in each; each = (each as Error).cause) {
    line += `\n${each.stack}`;
  }
  return line;
}
