import { format } from 'node:util';
import { PlantStoreError } from '../../functions/errors.ts';
import type { LoggedError, RequestLine } from '../../functions/middleware/request-log.ts';
import { printable } from '../printable.ts';

/**
 * Makes `console` escape control characters, because a text can quote what a client has sent.
 *
 * @param show returns what is printed of a value; undefined for nothing
 */
export function escapeConsole(show = (...values: unknown[]): string | undefined => format(...values)): void {
  for (const level of ['debug', 'log', 'info', 'warn', 'error'] as const) {
    const print = console[level].bind(console);
    console[level] = (...values: unknown[]) => {
      const text = show(...values);
      if (text !== undefined) print(printable(text));
    };
  }
}

/** Returns only the fault of a RequestLine, because the gateway prints a line for each response. */
export function withoutRequestLines(...values: unknown[]): string | undefined {
  const [value] = values;
  if (!isRequestLine(value)) return format(...values);
  const { fault } = value;
  // A PlantStoreError with a cause says only what the line of the response says.
  if (typeof fault === 'object' && fault.name === PlantStoreError.name && fault.cause) return stackOf(fault.cause);
  return fault && stackOf(fault);
}

function isRequestLine(value: unknown): value is RequestLine {
  return 'outcome' in Object(value);
}

/** Returns an error's stack, then that of its cause, as Node.js prints them. */
function stackOf(error: NonNullable<LoggedError>): string {
  if (typeof error === 'string') return error;
  return `${error.stack}${error.cause ? `\n[cause]: ${stackOf(error.cause)}` : ''}`;
}

/** Returns the line of a response for the terminal: `POST /plants  400 (error 409)  The id 1 is in use …  6 ms`. */
export function responseLine(request: string, status: number, body: string, milliseconds: number): string {
  // A body that is not the contract's Error must not be parsed: it can be any text.
  const [, error, message] = /^\{"error":(\d+),"message":("(?:[^"\\]|\\.)*")\}$/.exec(body) ?? [];
  // The message of a LoadError has several lines. The terminal has shown them already.
  const [firstLine] = message ? String(JSON.parse(message)).split('\n') : [];
  const parts = [request, error ? `${status} (error ${error})` : status, firstLine, `${Math.round(milliseconds)} ms`];
  return printable(parts.filter((part) => part !== undefined).join('  '));
}
