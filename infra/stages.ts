import type { Stages } from './settings.ts';

/**
 * The settings of each stage: what a deployment has without any `-c` but its `-c stage=`. `default` is the stack without
 * a stage, and the local run. docs/deploying.md says what each key does.
 *
 * As in: staging: { alarmEmail: 'ops@example.com', allowOrigins: 'https://staging.example.com', cloudWatchRole: false }
 */
export const stages: Stages = {
  default: {},
};
