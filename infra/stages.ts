import type { Stages } from './settings.ts';

/**
 * The settings of each stage. A stage has them without any `-c` but `-c stage=`. `default` is the stack without a stage,
 * and the local run. docs/deploying.md explains each key.
 *
 * @example staging: { alarmEmail: 'ops@example.com', allowOrigins: 'https://staging.example.com', cloudWatchRole: false }
 */
export const stages: Stages = {
  default: {},
};
