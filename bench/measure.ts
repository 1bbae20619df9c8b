import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { startRuntime } from '../test/runtime/runtime-api.ts';
import { projectRoot } from '../tools/project-root.ts';
import type { Handler } from './build.ts';

/** The memory size in infra/function.ts, and the one with a whole CPU ("Configure Lambda function memory"). */
const MEGABYTES = 512;
const MEGABYTES_PER_CPU = 1769;

const WARM_UP_INVOCATIONS = 200;
const MEASURED_INVOCATIONS = 300;

export interface Run {
  /** From the start of the process to its first response. */
  coldStartMs: number;
  /** Average of the measured invocations. */
  warmMs: number;
}

const sample = JSON.parse(readFileSync(`${projectRoot}/events/create-plant.json`, 'utf8'));
const plant = JSON.parse(sample.body);

/** Starts a bundle on AWS's runtime client, sends it events, measures that and stops it. */
export async function measure({ name, folder, token }: Handler, environment: Record<string, string>): Promise<Run> {
  const headers = { ...sample.headers, Authorization: `Bearer ${token}` };
  mkdirSync(CGROUP, { recursive: true });
  const runtime = await startRuntime(folder, environment, true);
  const { pid } = runtime;
  let sent = 0;

  async function invoke(times: number): Promise<void> {
    for (let i = 0; i < times; i += 1) {
      sent += 1;
      const event = { ...sample, headers, body: JSON.stringify({ ...plant, id: sent }) };
      const response = await runtime.invoke(event);
      if (!response.includes('"statusCode":200')) throw new Error(`${name} responded with ${response}`);
    }
  }

  try {
    // Init gets a whole CPU, as on Lambda.
    await runtime.ready();
    const initMs = performance.now() - runtime.spawned;
    limitCpu(pid);
    const firstEvent = performance.now();
    await invoke(1);
    const coldStartMs = initMs + performance.now() - firstEvent;
    await invoke(WARM_UP_INVOCATIONS);
    const warmStart = performance.now();
    await invoke(MEASURED_INVOCATIONS);
    return { coldStartMs, warmMs: (performance.now() - warmStart) / MEASURED_INVOCATIONS };
  } finally {
    await runtime.close();
    rmdirSync(CGROUP);
  }
}

const CGROUP_VERSION_1 = existsSync('/sys/fs/cgroup/cpu');
const CGROUP = `/sys/fs/cgroup/${CGROUP_VERSION_1 ? 'cpu/' : ''}plant-store-bench`;

/** Limits a process to the share of a CPU that Lambda gives for the memory size. Throws without cgroups. */
function limitCpu(pid: number): void {
  const periodUs = 20_000;
  const quotaUs = Math.round((periodUs * MEGABYTES) / MEGABYTES_PER_CPU);
  const files = CGROUP_VERSION_1
    ? { 'cpu.cfs_period_us': periodUs, 'cpu.cfs_quota_us': quotaUs, 'cgroup.procs': pid }
    : { 'cpu.max': `${quotaUs} ${periodUs}`, 'cgroup.procs': pid };
  for (const [file, value] of Object.entries(files)) writeFileSync(`${CGROUP}/${file}`, String(value));
}
