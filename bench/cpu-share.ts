import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';

/** Lambda's: a function has a whole CPU at 1769 MB ("Configure Lambda function memory"). */
const MEGABYTES_A_CPU = 1769;
const PERIOD_US = 20_000;

/** Version 1 of cgroups has a hierarchy of its own for the CPU controller. */
const version1 = existsSync('/sys/fs/cgroup/cpu/cgroup.procs');
const ROOT = version1 ? '/sys/fs/cgroup/cpu' : '/sys/fs/cgroup';

/** The share of a CPU that a process may use from some moment on. Throws where cgroups cannot be used. */
export function cpuShare(pid: number) {
  const directory = `${ROOT}/plant-store-bench-${pid}`;
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
  const probe = `${ROOT}/plant-store-bench-probe`;
  try {
    mkdirSync(probe);
    const usable = existsSync(`${probe}/${version1 ? 'cpu.cfs_quota_us' : 'cpu.max'}`);
    rmdirSync(probe);
    return usable ? undefined : 'the CPU controller is not enabled';
  } catch (error) {
    return (error as Error).message;
  }
}
