import { readdirSync, readFileSync } from 'node:fs';
import { startRuntime } from '../test/runtime/runtime-api.ts';
import { cpuShare } from './cpu-share.ts';

interface RunOptions {
  environment: Record<string, string>;
  /** Makes the nth event. */
  event: (n: number) => unknown;
  /** The status of the responses. Default: 200. */
  status?: number;
  /** Invocations after the first that only warm up, and those that are measured. */
  warmUp: number;
  invocations: number;
  /** The memory size by which the invocations' share of a CPU is set; without it they have a whole one. */
  megabytes?: number | undefined;
}

export interface Run {
  /** From spawn to the first response. */
  coldStartMs: number;
  /** From the first event to its response. */
  firstInvocationMs: number;
  /** CPU time of the measured invocations, each; not a number where there were none. */
  warmCpuUs: number;
  /** Wall time of the measured invocations, each. */
  warmWallMs: number;
  peakMegabytes: number;
}

/** One execution environment from spawn to its last event, on AWS's runtime client. */
export async function measure(directory: string, options: RunOptions): Promise<Run> {
  const { environment, event, status = 200, warmUp, invocations, megabytes } = options;
  const runtime = await startRuntime(directory, environment, 'ignore');
  const { pid, spawned } = runtime;
  const share = megabytes === undefined ? undefined : cpuShare(pid);
  let sent = 0;

  async function invoke(): Promise<void> {
    sent += 1;
    const response = await runtime.invoke(event(sent));
    if (response.includes(`"statusCode":${status}`)) return;
    throw new Error(`${directory} responded ${response}\n${runtime.log()}`);
  }

  try {
    // Init is at full speed, as on Lambda; from the first event on the share holds.
    await runtime.ready();
    if (megabytes !== undefined) share?.limitTo(megabytes);
    const delivered = performance.now();
    await invoke();
    const firstResponse = performance.now();
    for (let i = 0; i < warmUp; i += 1) await invoke();
    const cpuBefore = cpuNanoseconds(pid);
    const wallBefore = performance.now();
    for (let i = 0; i < invocations; i += 1) await invoke();
    return {
      coldStartMs: firstResponse - spawned,
      firstInvocationMs: firstResponse - delivered,
      warmCpuUs: (cpuNanoseconds(pid) - cpuBefore) / 1000 / invocations,
      warmWallMs: (performance.now() - wallBefore) / invocations,
      peakMegabytes: Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    };
  } finally {
    await runtime.close();
    share?.remove();
  }
}

/** Time that a process and its threads had a CPU, in nanoseconds: finer than the ticks of proc(5)'s stat. */
function cpuNanoseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return times.reduce((sum, nanoseconds) => sum + Number(nanoseconds), 0);
}
