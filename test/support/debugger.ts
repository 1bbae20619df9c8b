import { SourceMap, type SourceMapPayload } from 'node:module';
import { expect } from 'vitest';

/** The parts of the protocol's results and events that the tests use. */
interface Evaluation {
  result: { value: unknown };
}
interface Pause {
  callFrames: { callFrameId: string }[];
}

/** The targets of a debugger's port of Node.js. */
export async function debuggerTargets(port: string): Promise<{ webSocketDebuggerUrl: string }[]> {
  const response = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => undefined);
  return response ? ((await response.json()) as { webSocketDebuggerUrl: string }[]) : [];
}

/** Attaches to a debugger's port of Node.js ("Chrome DevTools Protocol"). */
export async function attachDebugger(port: string) {
  await expect.poll(() => debuggerTargets(port), { timeout: 60_000 }).not.toEqual([]);
  const socket = new WebSocket((await debuggerTargets(port))[0]?.webSocketDebuggerUrl ?? '');
  const results = new Map<number, (result: Evaluation) => void>();
  const scripts: { url: string; sourceMapURL: string; endLine: number }[] = [];
  const paused = Promise.withResolvers<Pause>();
  socket.onmessage = ({ data }) => {
    const { id, result, method, params } = JSON.parse(data);
    results.get(id)?.(result);
    if (method === 'Debugger.scriptParsed') scripts.push(params);
    if (method === 'Debugger.paused') paused.resolve(params);
  };
  await new Promise((resolve) => {
    socket.onopen = resolve;
  });

  function send(method: string, params: object = {}): Promise<Evaluation> {
    const id = results.size;
    socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => results.set(id, resolve));
  }

  await send('Debugger.enable');
  return {
    /** Sets a breakpoint at a line of a source file, counted from 0. */
    async setBreakpoint(file: string, line: number): Promise<void> {
      for (const { url, sourceMapURL, endLine } of scripts.filter((script) => script.sourceMapURL !== '')) {
        const map = new SourceMap((await (await fetch(sourceMapURL)).json()) as SourceMapPayload);
        for (let lineNumber = 0; lineNumber <= endLine; lineNumber++) {
          const entry = map.findEntry(lineNumber, 1000);
          if (!('generatedLine' in entry) || entry.generatedLine !== lineNumber || entry.originalLine !== line)
            continue;
          const source = new URL(entry.originalSource, url);
          if (!source.pathname.endsWith(file)) continue;
          await send('Debugger.setBreakpointByUrl', { url, lineNumber });
          return;
        }
      }
      throw new Error(`No script has the line ${line + 1} of ${file}.`);
    },

    /** Waits for the pause, and evaluates an expression there. */
    async evaluate(expression: string): Promise<unknown> {
      const { callFrameId } = (await paused.promise).callFrames[0] ?? {};
      return (await send('Debugger.evaluateOnCallFrame', { callFrameId, expression })).result.value;
    },

    detach: () => socket.close(),
  };
}
