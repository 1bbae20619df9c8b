import { format } from 'node:util';
import type { LoggedError, RequestLine } from '../../functions/shared/middleware/request-log.ts';
import { printable } from '../shared/printable.ts';

/** Some fields of a RequestLine, by which it is recognized. */
const FIELDS: (keyof RequestLine)[] = ['operation', 'outcome', 'durationMs'];

/**
 * Makes `console` print only the stacks of a RequestLine's causes, the first cause first, because the gateway prints a line
 * for each response. What a client has sent, and a text quotes, cannot control the terminal.
 */
export function printOnlyCauses(): void {
  for (const level of ['debug', 'log', 'info', 'warn', 'error'] as const) {
    const print = console[level];
    console[level] = (...values: unknown[]) => {
      const [value] = values;
      if (!isRequestLine(value)) print(printable(format(...values)));
      else if (value.fault) print(printable(stacksOf(value.fault).join('\n')));
    };
  }
}

function isRequestLine(value: unknown): value is RequestLine {
  return value instanceof Object && FIELDS.every((field) => field in value);
}

function stacksOf(error: LoggedError): string[] {
  return typeof error === 'object' ? [...stacksOf(error.cause), String(error.stack)] : [];
}

/**
 * Returns the line of a response for the terminal, as in `POST /plants  409  The id 1 is in use …  6 ms`.
 *
 * @param request its method and path
 * @param milliseconds until the response
 */
export function responseLine(request: string, status: number, body: string, milliseconds: number): string {
  const [, error, message] = /^\{"error":(\d+),"message":("(?:[^"\\]|\\.)*")\}$/.exec(body) ?? [];
  const parts = [request, error ?? status, message && JSON.parse(message), `${Math.round(milliseconds)} ms`];
  return printable(parts.filter((part) => part !== undefined).join('  ')).replaceAll('\n', '\\n');
}
