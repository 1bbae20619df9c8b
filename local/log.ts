import { join } from 'node:path';
import { formatWithOptions, styleText } from 'node:util';

/** A line of a function's log. */
export interface LogLine {
  level: string;
  /** As in Lambda's JSON log format: a single value is JSON, several values are a text. */
  message: unknown;
  /** The values as Node.js prints them. */
  text: string;
}

/** Creates the line of a call of `console` ("Using Lambda advanced logging controls with Node.js"). */
export function logLine(level: string, values: unknown[]): LogLine {
  const text = toText(...values);
  return {
    level,
    message: values.length === 1 ? toJson(values[0], text) : text,
    text,
  };
}

function toJson(value: unknown, text: string): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    // JSON has no functions, no bigints and no circular objects.
    return text;
  }
}

const projectPath = join(import.meta.dirname, '..', '/');

/** Formats values as `console.log` does. An error's stack has paths from the project's root, as in `functions/a.ts:1:2`. */
export function toText(...values: unknown[]): string {
  return formatWithOptions({ depth: 5 }, ...values)
    .replaceAll(`file://${projectPath}`, '')
    .replaceAll(projectPath, '');
}

/** True for the line that functions/shared/middleware/request-log.ts logs for each request. */
export function isRequestLine({ message }: LogLine): boolean {
  return message instanceof Object && 'operation' in message && 'outcome' in message;
}

/** Returns a line for the terminal. */
export function terminalText(line: LogLine): string {
  const text = isRequestLine(line) ? toText(JSON.parse(JSON.stringify(line.message), reviveError)) : line.text;
  return `${line.level} ${text}`;
}

/** Returns the line of a response for a terminal: with the time, and with a colour for the result. */
export function accessLine(line: string, error?: number): string {
  const color = error === undefined ? 'green' : error < 500 ? 'yellow' : 'red';
  return `${new Date().toTimeString().slice(0, 8)}  ${styleText(color, line)}`;
}

/** Makes an error of an object with a stack, because Node.js prints the stack of an error in lines. */
function reviveError(_key: string, value: unknown): unknown {
  const { message, stack } = (value ?? {}) as Error;
  return typeof stack === 'string' ? Object.assign(new Error(message, value as ErrorOptions), { stack }) : value;
}
