import { join } from 'node:path';
import { formatWithOptions, styleText } from 'node:util';

/** A line of a function's log. */
export interface LogLine {
  level: string;
  /** The values as Node.js prints them. */
  text: string;
  /** True for the line that functions/shared/middleware/request-log.ts logs for each request. */
  isRequest: boolean;
}

/** Creates the line of a call of `console`. The errors in the line of a request are printed with their stacks. */
export function logLine(level: string, values: unknown[]): LogLine {
  const [value] = values;
  const isRequest = values.length === 1 && value instanceof Object && 'operation' in value && 'outcome' in value;
  const text = isRequest ? toText(reviveErrors(value)) : toText(...values);
  return { level, text, isRequest };
}

const projectPath = join(import.meta.dirname, '../..', '/');

/** Formats values as `console.log` does. An error's stack has paths from the project's root, as in `functions/a.ts:1:2`. */
export function toText(...values: unknown[]): string {
  return formatWithOptions({ depth: 5 }, ...values)
    .replaceAll(`file://${projectPath}`, '')
    .replaceAll(projectPath, '');
}

/** Returns the line of a response for a terminal: with the time, and with a colour for the result. */
export function accessLine(line: string, error?: number): string {
  const color = error === undefined ? 'green' : error < 500 ? 'yellow' : 'red';
  return `${new Date().toTimeString().slice(0, 8)}  ${styleText(color, line)}`;
}

function reviveErrors(value: object): unknown {
  try {
    return JSON.parse(JSON.stringify(value), reviveError);
  } catch {
    // JSON has no bigints and no circular objects.
    return value;
  }
}

/** Makes an error of an object with a stack, because Node.js prints the stack of an error in lines. */
function reviveError(_key: string, value: unknown): unknown {
  const { message, stack } = (value ?? {}) as Error;
  return typeof stack === 'string' ? Object.assign(new Error(message, value as ErrorOptions), { stack }) : value;
}
