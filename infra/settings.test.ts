import { App } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { EVERYTHING, stackWith } from '../test/support/stack.ts';
import { readSettings, type Settings, withDefaults } from './settings.ts';

const STAGES: Record<string, Settings> = {
  production: { requestsPerSecond: 500 },
  staging: { webAcl: true },
  dev: {},
};

const read = (context: Record<string, unknown>) => readSettings(new App({ context }), STAGES);

test('the settings are those of the stage, with the defaults', () => {
  expect(read({ stage: 'production' })).toEqual({
    stage: 'production',
    allowOrigins: [],
    cloudWatchRole: true,
    ephemeral: false,
    requestsPerSecond: 500,
    webAcl: false,
    withoutCanary: false,
  });
});

test('-c selects a stage, and a release without the canary', () => {
  const selected = { stage: 'staging', requestsPerSecond: 100, webAcl: true, withoutCanary: true };
  expect(read({ stage: 'staging', withoutCanary: 'true' })).toMatchObject(selected);
});

test.each([
  [{}, 'cdk.json has no stage; add -c stage=NAME with one of production, staging, dev.'],
  [{ stage: 'prod' }, 'The stage "prod" is not in infra/stages.ts; it must be one of production, staging, dev.'],
  [{ stage: 'constructor' }, 'The stage "constructor" is not in '],
  [{ stgae: 'staging' }, 'The key "stgae" after -c does not exist; it must be stage or withoutCanary.'],
  [{ 'stage/dev': '1' }, 'The key "stage/dev" after -c does not exist; '],
  [{ stage: 'dev', withoutCanary: 'yes' }, 'withoutCanary was "yes"; set it to true, or leave it out.'],
])('rejects %j after -c', (context, message) => {
  expect(() => read(context)).toThrow(message);
});

test.each(['acknowledged-issue-numbers', 'cli-telemetry', 'a:b', '@a', 'a/b'])('accepts CDK’s own key %s', (key) => {
  expect(read({ stage: 'dev', [key]: true })).toEqual(read({ stage: 'dev' }));
});

// The name is a part of the stack's name.
test.each(['a_b', '', '1', 'a'.repeat(32)])('rejects the stage name "%s"', (name) => {
  const message = 'must begin with a letter, after which up to 30 letters, digits or hyphens may follow.';
  expect(() => withDefaults(name, {})).toThrow(`The stage "${name}" ${message}`);
});

const CERTIFICATE = 'arn:aws:acm:eu-west-1:123456789012:certificate/12345678-1234-1234-1234-123456789012';
const BOTH_FORMS = { name: 'a.example', hostedZoneId: 'Z1', certificateArn: CERTIFICATE };

test('a certificate must be in the region of the API, if the stage has one', () => {
  const domain = { name: 'a.example', certificateArn: CERTIFICATE };
  const account = '123456789012';
  expect(() => withDefaults('dev', { domain })).not.toThrow();
  expect(() => withDefaults('dev', { domain, account, region: 'eu-west-1' })).not.toThrow();
  const message = (region: string) => `was "${CERTIFICATE}"; it must be the ARN of a certificate in ${region}.`;
  expect(() => withDefaults('dev', { domain, account, region: 'us-east-1' })).toThrow(message('us-east-1'));
  const wrong = { ...domain, certificateArn: CERTIFICATE.replace('acm', 'iam') };
  expect(() => withDefaults('dev', { domain: wrong })).toThrow(
    'it must be the ARN of a certificate in the region of the API.',
  );
});

test('the account and the region are those of the stack', () => {
  expect(stackWith(EVERYTHING).environment).toBe('aws://123456789012/eu-west-1');
});

test.each<[Settings, string]>([
  [{ account: '123456789012' }, 'The stage "dev" has one of the settings account and region; '],
  [{ region: 'eu-west-1' }, 'The stage "dev" has one of the settings account and region; '],
  [{ domain: { name: 'a.example' } }, 'The setting domain of the stage "dev" must have hostedZoneId or '],
  [{ domain: BOTH_FORMS }, 'The setting domain of the stage "dev" must have hostedZoneId or certificateArn, not both.'],
  [{ allowOrigins: ['https://a.example/'] }, 'The setting allowOrigins of the stage "dev" was "https://a.example/"; '],
])('rejects the settings %j', (settings, message) => {
  expect(() => withDefaults('dev', settings)).toThrow(message);
});

/** The stage with every setting, in which the setting, such as `alarms.email`, has this value. */
function stageWith(setting: string, value: unknown): Settings {
  const [outer = '', inner] = setting.split('.');
  const all: Record<string, unknown> = { ...EVERYTHING };
  return { ...all, [outer]: inner ? { ...Object(all[outer]), [inner]: value } : value };
}

test.each<[setting: string, accepted: unknown, rejected: unknown[], expected: string]>([
  ['account', '000000000000', ['', '1234-5678-9012', '1234567890123'], 'the 12 digits of an AWS account'],
  ['region', 'us-gov-west-1', ['', 'Ireland', ' eu-west-1', 'eu-west-1a'], 'an AWS region such as eu-west-1'],
  ['requestsPerSecond', 10_000, [0, -1, 1.5], 'an integer of at least 1'],
  ['alarms.email', 'a.b+c@d.example.com', ['ops', '', 'ops@example', 'a@b.example,c@b.example'], 'one email address'],
  ['alarms.runbookUrl', 'http://a:8/?b', ['a.md', 'https://', 'https://a/#b', ' http://a'], 'a full URL without #'],
  ['domain.name', 'a-1.b.example', ['https://a.example', 'A.example', 'a', 'a.example/b'], 'a host name in lower case'],
  ['domain.hostedZoneId', 'Z1', ['example.com', '/hostedzone/Z1', 'Z1.'], 'an id such as Z0123456789ABC'],
  ['identityProvider.issuer', 'https://A/b', ['https://', 'http://a', 'https://a/?b'], 'an https URL without ? and #'],
  // With these, the function would accept more tokens.
  ['identityProvider.audiences', ['https://a', 'b'], [['a', 'b,c'], ['']], 'a text without spaces and commas'],
  ['identityProvider.scope', 'write:plants', ['', 'read write'], 'a text without spaces and commas'],
])('accepts only right values of %s', (setting, accepted, rejected, expected) => {
  expect(() => withDefaults('dev', stageWith(setting, accepted))).not.toThrow();
  for (const value of rejected) {
    const wrong = [value].flat().at(-1);
    const message = `The setting ${setting} of the stage "dev" was "${wrong}"; it must be ${expected}.`;
    expect(() => withDefaults('dev', stageWith(setting, value)), message).toThrow(message);
  }
});
