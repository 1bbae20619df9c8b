import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { startRuntime } from '../test/runtime/runtime-api.ts';
import type { Handler } from './handlers.ts';

/** The share of a CPU at 512 MB. 1,769 MB have one CPU ("Configure Lambda function memory"). */
const CPU_SHARE = 512 / 1769;
const CGROUP_VERSION_1 = existsSync('/sys/fs/cgroup/cpu');
const CGROUP = `/sys/fs/cgroup/${CGROUP_VERSION_1 ? 'cpu/' : ''}plant-store-bench`;
const sample = JSON.parse(readFileSync(join(import.meta.dirname, '../events/create-plant.json'), 'utf8'));
const { id: _, ...plant } = JSON.parse(sample.body);

/** A cold start: from the start of the process until it asks for an event, from the event to its response, and both. */
export type Run = { initMs: number; invocationMs: number; sumMs: number };

/** Starts a bundle on AWS's runtime client, and sends it an event. Throws if the response is not the plant. */
export async function measure({ name, folder, token }: Handler, environment: Record<string, string>): Promise<Run> {
  mkdirSync(CGROUP, { recursive: true });
  const runtime = await startRuntime(folder, environment, true);
  try {
    // Init gets a whole CPU, as on Lambda.
    await runtime.ready();
    const initMs = performance.now() - runtime.spawned;
    limitCpu(runtime.pid);
    const start = performance.now();
    const headers = { ...sample.headers, Authorization: `Bearer ${token}` };
    const response = await runtime.invoke({ ...sample, headers });
    const invocationMs = performance.now() - start;
    const { statusCode, body } = JSON.parse(response);
    const isPlant = statusCode === 200 && isDeepStrictEqual(JSON.parse(body), plant);
    if (!isPlant) throw new Error(`The handler "${name}" responded with ${response}.`);
    return { initMs, invocationMs, sumMs: initMs + invocationMs };
  } finally {
    await runtime.close();
    rmdirSync(CGROUP);
  }
}

/** Limits a process to the share of a CPU that Lambda gives for the memory size. Throws without cgroups. */
function limitCpu(pid: number): void {
  const periodUs = 20_000;
  const quotaUs = Math.round(periodUs * CPU_SHARE);
  const files = CGROUP_VERSION_1
    ? { 'cpu.cfs_period_us': periodUs, 'cpu.cfs_quota_us': quotaUs, 'cgroup.procs': pid }
    : { 'cpu.max': `${quotaUs} ${periodUs}`, 'cgroup.procs': pid };
  for (const [file, value] of Object.entries(files)) writeFileSync(`${CGROUP}/${file}`, String(value));
}
