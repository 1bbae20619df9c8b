import { vi } from 'vitest';
import type { Ended } from './tool.ts';

/** Runs a tool of operate/ to its end in this process, which takes milliseconds in place of a second. */
export async function runInProcess(load: () => Promise<unknown>, args: string[]): Promise<Ended> {
  const { argv, exitCode } = process;
  const [out, err] = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error')];
  for (const spy of [out, err]) spy.mockImplementation(() => {});
  const streams = [process.stdout, process.stderr];
  const listeners = streams.map((stream) => stream.listeners('error'));
  try {
    process.argv = [...argv.slice(0, 2), ...args];
    process.exitCode = 0;
    vi.resetModules();
    await load();
    const [stdout = '', stderr = ''] = [out, err].map(({ mock }) =>
      mock.calls.map((call) => `${call.join(' ')}\n`).join(''),
    );
    return { code: Number(process.exitCode), stdout, stderr };
  } finally {
    Object.assign(process, { argv, exitCode });
    for (const spy of [out, err]) spy.mockRestore();
    for (const [index, stream] of streams.entries()) {
      for (const listener of stream.listeners('error')) {
        if (!listeners[index]?.includes(listener)) stream.off('error', listener as () => void);
      }
    }
  }
}
