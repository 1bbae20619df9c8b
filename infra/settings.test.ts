import { App } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { readSettings, type Stage, withDefaults } from './settings.ts';

const STAGES: Record<string, Stage> = {
  production: { requestsPerSecond: 500 },
  staging: { cloudWatchRole: false },
  trial: { ephemeral: true },
};

const read = (context: Record<string, unknown>) => readSettings(new App({ context }), STAGES);

test('without -c, the settings are those of production, with the defaults', () => {
  expect(read({})).toEqual({
    stage: 'production',
    allowOrigins: [],
    ephemeral: false,
    requestsPerSecond: 500,
    webAcl: false,
    withoutCanary: false,
  });
});

test('-c selects a stage, and a release without the canary', () => {
  expect(read({ stage: 'staging', withoutCanary: 'true' })).toMatchObject({
    stage: 'staging',
    cloudWatchRole: false,
    requestsPerSecond: 100,
    withoutCanary: true,
  });
});

test.each([
  [{ stage: 'prod' }, 'The stage "prod" is not in infra/stages.ts; it must be one of production, staging, trial.'],
  [{ stage: 'constructor' }, 'The stage "constructor" is not in '],
  [{ stgae: 'staging' }, 'The key "stgae" after -c does not exist; it must be stage or withoutCanary.'],
  [{ requestsPerSecond: '5' }, 'The key "requestsPerSecond" after -c does not exist; '],
  [{ withoutCanary: 'yes' }, 'withoutCanary was "yes"; set it to true, or leave it out.'],
])('rejects %j after -c', (context, message) => {
  expect(() => read(context)).toThrow(message);
});

test('accepts CDK’s own keys', () => {
  const own = {
    'acknowledged-issue-numbers': [1],
    'cli-telemetry': false,
    'aws:cdk:own': true,
    '@aws-cdk/own:key': true,
    'availability-zones:account=1': [],
  };
  expect(read(own)).toEqual(read({}));
});

const BAD_NAME = 'must begin with a letter, after which up to 30 letters, digits or hyphens may follow.';
test.each<[string, Stage, string]>([
  // The name is a part of the stack's name.
  ...['a_b', '', '1', 'a'.repeat(32)].map((name): [string, Stage, string] => [name, {}, `"${name}" ${BAD_NAME}`]),
  [
    'staging',
    { identityProvider: { issuer: 'http://id.example.com', audiences: ['plants'] } },
    'The issuer of the stage "staging" was "http://id.example.com"; it must be an https URL.',
  ],
  ['staging', { allowOrigins: ['https://*.example.com'] }, 'The allowed origin "https://*.example.com" must be one '],
])('rejects the stage "%s" with the settings %j', (stage, settings, message) => {
  expect(() => withDefaults(stage, settings)).toThrow(message);
});

test.each([
  [{ audiences: ['a,b'] }, 'a,b'],
  [{ audiences: [''] }, ''],
  [{ audiences: ['plants'], scope: '' }, ''],
  [{ audiences: ['plants'], scope: 'read write' }, 'read write'],
])('rejects %j, with which the function would accept more tokens', (changes, value) => {
  const identityProvider = { issuer: 'https://id.example.com', ...changes } as Stage['identityProvider'] & object;
  expect(() => withDefaults('staging', { identityProvider })).toThrow(
    `An audience or the scope of the stage "staging" was "${value}"; it must be a text without spaces and commas.`,
  );
});

test('the compiler rejects a setting that does not exist, and half of a domain', () => {
  // @ts-expect-error
  const mistyped: Stage = { alarmMail: 'ops@example.com' };
  // @ts-expect-error
  const half: Stage = { domain: { name: 'plants.example.com' } };
  expect([mistyped, half]).toHaveLength(2);
});
