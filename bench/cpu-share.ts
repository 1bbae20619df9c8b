import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';

/** Lambda's: a function has a whole CPU at 1769 MB ("Configure Lambda function memory"). */
const MEGABYTES_A_CPU = 1769;
const PERIOD_US = 20_000;

const V1 = '/sys/fs/cgroup/cpu';
const V2 = '/sys/fs/cgroup';

/** The share of a CPU that a process may use from some moment on; nothing where cgroups cannot be used. */
export function cpuShare(pid: number) {
  const version1 = existsSync(`${V1}/cgroup.procs`);
  const directory = `${version1 ? V1 : V2}/plant-store-bench-${pid}`;
  mkdirSync(directory);
  writeFileSync(`${directory}/cgroup.procs`, String(pid));
  return {
    /** Gives the process what Lambda gives an invocation at so many MB. */
    limitTo(megabytes: number): void {
      const quota = Math.round((PERIOD_US * megabytes) / MEGABYTES_A_CPU);
      if (version1) {
        writeFileSync(`${directory}/cpu.cfs_period_us`, String(PERIOD_US));
        writeFileSync(`${directory}/cpu.cfs_quota_us`, String(quota));
      } else writeFileSync(`${directory}/cpu.max`, `${quota} ${PERIOD_US}`);
    },
    /** Once the process has ended. */
    remove: () => rmdirSync(directory),
  };
}

/** Why CPU shares cannot be set on this machine; nothing where they can. */
export function whyNoCpuShares(): string | undefined {
  const probe = `${existsSync(`${V1}/cgroup.procs`) ? V1 : V2}/plant-store-bench-probe`;
  try {
    mkdirSync(probe);
    const usable = existsSync(`${probe}/cpu.cfs_quota_us`) || existsSync(`${probe}/cpu.max`);
    rmdirSync(probe);
    return usable ? undefined : 'the CPU controller is not enabled';
  } catch (error) {
    return (error as Error).message;
  }
}
