import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { startRuntime } from '../test/runtime/runtime-api.ts';

export interface RunOptions {
  environment: Record<string, string>;
  /** Creates the nth event. */
  event: (n: number) => unknown;
  /** The expected status of the responses. Default: 200. */
  status?: number;
  /** The number of measured invocations, after half as many to warm up. Default: 0. */
  invocations?: number;
  /** Limits the CPU after init to the share that Lambda gives for this memory size. Default: no limit. */
  megabytes?: number;
}

export interface Run {
  /** From spawn to the first response. */
  coldStartMs: number;
  /** From the first event to its response. */
  firstInvocationMs: number;
  /** Average CPU time of the measured invocations. Not a finite number if there are none. */
  warmCpuUs: number;
  /** Average wall time of the measured invocations. Not a finite number if there are none. */
  warmWallMs: number;
  peakMegabytes: number;
}

/** Starts a bundle on AWS's runtime client, invokes it, measures that and stops it. */
export async function measure(directory: string, options: RunOptions): Promise<Run> {
  const { environment, event, status = 200, invocations = 0, megabytes } = options;
  const runtime = await startRuntime(directory, environment, true);
  const { pid, spawned } = runtime;
  const share = megabytes === undefined ? undefined : cpuShare(pid, megabytes);
  let sent = 0;

  async function invoke(times = 1): Promise<void> {
    for (let i = 0; i < times; i += 1) {
      sent += 1;
      const response = await runtime.invoke(event(sent));
      if (response.includes(`"statusCode":${status}`)) continue;
      throw new Error(`${directory} responded with ${response}; the status must be ${status}.\n${runtime.log()}`);
    }
  }

  try {
    // Init gets a whole CPU, as on Lambda.
    await runtime.ready();
    share?.set();
    const firstEvent = performance.now();
    await invoke();
    const firstResponse = performance.now();
    await invoke(invocations / 2);
    const cpuBefore = cpuNanoseconds(pid);
    const wallBefore = performance.now();
    await invoke(invocations);
    return {
      coldStartMs: firstResponse - spawned,
      firstInvocationMs: firstResponse - firstEvent,
      warmCpuUs: (cpuNanoseconds(pid) - cpuBefore) / 1000 / invocations,
      warmWallMs: (performance.now() - wallBefore) / invocations,
      peakMegabytes: Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    };
  } finally {
    await runtime.close();
    share?.remove();
  }
}

/** Returns the CPU time of a process and its threads, more precisely than the ticks of `/proc/PID/stat` (proc(5)). */
function cpuNanoseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return times.reduce((sum, nanoseconds) => sum + Number(nanoseconds), 0);
}

/** The memory size at which a function has a whole CPU ("Configure Lambda function memory"). */
const MEGABYTES_PER_CPU = 1769;
const PERIOD_US = 20_000;

/** Limits a process to Lambda's share of a CPU at a memory size. Throws without cgroups (version 1 or 2). */
function cpuShare(pid: number, megabytes: number) {
  const isVersion1 = existsSync('/sys/fs/cgroup/cpu/cgroup.procs');
  const directory = `/sys/fs/cgroup/${isVersion1 ? 'cpu/' : ''}plant-store-bench-${pid}`;
  const quota = Math.round((PERIOD_US * megabytes) / MEGABYTES_PER_CPU);
  mkdirSync(directory);
  writeFileSync(`${directory}/cgroup.procs`, String(pid));
  return {
    set(): void {
      if (isVersion1) {
        writeFileSync(`${directory}/cpu.cfs_period_us`, String(PERIOD_US));
        writeFileSync(`${directory}/cpu.cfs_quota_us`, String(quota));
      } else writeFileSync(`${directory}/cpu.max`, `${quota} ${PERIOD_US}`);
    },
    /** Removes the cgroup. The process must have ended. */
    remove: () => rmdirSync(directory),
  };
}
