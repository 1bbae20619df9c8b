import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { startRuntime } from '../test/runtime/runtime-api.ts';

export interface RunOptions {
  environment: Record<string, string>;
  /** Makes the nth event. */
  event: (n: number) => unknown;
  /** The status of the responses. Default: 200. */
  status?: number;
  /** Invocations after the first that only warm up, and those that are measured. Default: none. */
  warmUp?: number;
  invocations?: number;
  /** Gives the invocations Lambda's share of a CPU at this memory size. Default: a whole one. */
  megabytes?: number;
}

export interface Run {
  /** From spawn to the first response. */
  coldStartMs: number;
  /** From the first event to its response. */
  firstInvocationMs: number;
  /** CPU time of each measured invocation. Not a number if there were none. */
  warmCpuUs: number;
  /** Wall time of each measured invocation. */
  warmWallMs: number;
  peakMegabytes: number;
}

/** Runs an execution environment on AWS's runtime client, from spawn to its last event. */
export async function measure(directory: string, options: RunOptions): Promise<Run> {
  const { environment, event, status = 200, warmUp = 0, invocations = 0, megabytes } = options;
  const runtime = await startRuntime(directory, environment, 'ignore');
  const { pid, spawned } = runtime;
  const share = megabytes === undefined ? undefined : cpuShare(pid, megabytes);
  let sent = 0;

  async function invoke(times = 1): Promise<void> {
    for (let i = 0; i < times; i += 1) {
      sent += 1;
      const response = await runtime.invoke(event(sent));
      if (response.includes(`"statusCode":${status}`)) continue;
      throw new Error(`${directory} responded ${response}\n${runtime.log()}`);
    }
  }

  try {
    // Lambda gives init a whole CPU.
    await runtime.ready();
    share?.set();
    const delivered = performance.now();
    await invoke();
    const firstResponse = performance.now();
    await invoke(warmUp);
    const cpuBefore = cpuNanoseconds(pid);
    const wallBefore = performance.now();
    await invoke(invocations);
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

/** CPU time of a process and its threads: finer than the ticks of proc(5)'s stat. */
function cpuNanoseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
  return times.reduce((sum, nanoseconds) => sum + Number(nanoseconds), 0);
}

/** A function has a whole CPU at this memory size ("Configure Lambda function memory"). */
const MEGABYTES_A_CPU = 1769;
const PERIOD_US = 20_000;

/** The share of a CPU that Lambda gives a function of a memory size, by cgroups of version 1 or 2. Throws without them. */
function cpuShare(pid: number, megabytes: number) {
  const isVersion1 = existsSync('/sys/fs/cgroup/cpu/cgroup.procs');
  const directory = `/sys/fs/cgroup/${isVersion1 ? 'cpu/' : ''}plant-store-bench-${pid}`;
  const quota = Math.round((PERIOD_US * megabytes) / MEGABYTES_A_CPU);
  mkdirSync(directory);
  writeFileSync(`${directory}/cgroup.procs`, String(pid));
  return {
    set(): void {
      if (isVersion1) {
        writeFileSync(`${directory}/cpu.cfs_period_us`, String(PERIOD_US));
        writeFileSync(`${directory}/cpu.cfs_quota_us`, String(quota));
      } else writeFileSync(`${directory}/cpu.max`, `${quota} ${PERIOD_US}`);
    },
    /** Removes the cgroup of a process that has ended. */
    remove: () => rmdirSync(directory),
  };
}
