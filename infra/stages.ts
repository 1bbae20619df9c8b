import type { Stages } from './settings.ts';

/**
 * The settings of each stage, which you select with `-c stage=NAME`. `default` is the stack without a stage.
 * docs/deploying.md explains each key.
 *
 * @example staging: { alarmEmail: 'ops@example.com', allowOrigins: 'https://staging.example.com', cloudWatchRole: false }
 */
export const stages: Stages = {
  default: {},
};
