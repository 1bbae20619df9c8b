import type { Settings } from './settings.ts';

/**
 * The stages and their settings. `npx cdk deploy` deploys `dev`, the stage in cdk.json. `-c stage=NAME` selects another
 * one. The editor explains each setting, and so does docs/deploying.md.
 *
 * @example
 * staging: { alarms: { email: 'ops@example.com' }, allowOrigins: ['https://staging.example.com'] },
 */
export const stages: Record<string, Settings> = {
  dev: { ephemeral: true },
  production: {},
};
