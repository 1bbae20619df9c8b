import middy from '@middy/core';
import { vi } from 'vitest';
import { type ErrorNumber, PlantStoreError } from '../../functions/shared/errors.ts';
import { errorResponse } from '../../functions/shared/middleware/error-response.ts';
import { requestLog } from '../../functions/shared/middleware/request-log.ts';
import type { Middleware } from '../../functions/shared/request.ts';
import { contextWith, eventWith } from './event.ts';

/** A line of a log, as CloudWatch finds it: JSON with members of members. */
export interface LogLine {
  [member: string]: string | number | null | LogLine;
}

/** The line of a request that succeeded. */
export async function succeeded(operationId: string): Promise<LogLine> {
  return only(await logged(operationId, () => ({ statusCode: 200 })));
}

/** The line of a request that a version answered with an `error`, for a cause that has a cause. */
export async function answered(operationId: string, error: ErrorNumber, version?: string): Promise<LogLine> {
  const cause = new Error('outer', { cause: new Error('inner') });
  return only(
    await logged(
      operationId,
      () => {
        throw new PlantStoreError(error, 'no', { cause });
      },
      version,
    ),
  );
}

/** What Lambda's Node.js runtime logs of an error that the function did not catch, such as one at its start. */
export function crash(): LogLine {
  return inEnvelope('ERROR', { errorType: 'Error', errorMessage: 'inside', stackTrace: ['Error: inside'] });
}

/** What Lambda logs after an invocation that was a cold start ("Lambda Telemetry API Event schema reference", platform.report). */
export function report(): LogLine {
  return {
    time: '2026-01-01T00:00:00.000Z',
    type: 'platform.report',
    record: {
      requestId: '6d67e385-053d-4622-a56f-b25bcef23083',
      metrics: {
        durationMs: 101.5,
        billedDurationMs: 102,
        memorySizeMB: 512,
        maxMemoryUsedMB: 90,
        initDurationMs: 116.7,
      },
      status: 'success',
    },
  };
}

/**
 * A line of the access log in such a format, with these values of `$context` variables by their names without it, and
 * "-" for all others ("Variables for access logging for API Gateway").
 */
export function accessLine(format: string, values: Record<string, string>): LogLine {
  for (const name of Object.keys(values)) {
    if (!format.includes(`"$context.${name}"`)) throw new Error(`The access log has no ${name}.`);
  }
  return JSON.parse(format.replaceAll(/\$context\.([\w.]+)/g, (_all, name) => values[name] ?? '-'));
}

/** The gateway's id of the request of which the lines of a function tell. */
export const { extendedRequestId = '' } = eventWith().requestContext;

const authenticated: Middleware = {
  before: ({ internal }) => {
    internal.tokenName = 'ci';
  },
};

/** What a function logs of a request, by the middleware that every operation has. */
async function logged(operationId: string, handler: () => unknown, functionVersion = '7'): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  const spies = (['info', 'error'] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation((line) => {
      lines.push(inEnvelope(level.toUpperCase(), line));
    }),
  );
  const listeners = process.listeners('unhandledRejection');
  try {
    await middy()
      .use(requestLog(operationId))
      .use(errorResponse())

      .use(authenticated)
      .handler(async () => handler())(eventWith(), { ...contextWith(), functionVersion });
  } finally {
    for (const spy of spies) spy.mockRestore();
    for (const listener of process.listeners('unhandledRejection')) {
      if (!listeners.includes(listener)) process.off('unhandledRejection', listener);
    }
  }
  return lines;
}

/** What Lambda's JSON log format makes of a line ("Using Lambda advanced logging controls with Node.js"). */
function inEnvelope(level: string, message: unknown): LogLine {
  const line = { timestamp: '2026-01-01T00:00:00.000Z', level, requestId: 'the-request-id', message };
  return JSON.parse(JSON.stringify(line));
}

function only(lines: LogLine[]): LogLine {
  const [line, ...others] = lines;
  if (!line || others.length > 0) throw new Error(`There is not one line, but ${lines.length}.`);
  return line;
}
