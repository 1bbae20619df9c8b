import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { WEB_ACL_ARN } from '../test/support/stack.ts';
import { readSettings, type Stages, settingKeys } from './settings.ts';

const ISSUER = 'https://id.example.com/tenant/';
const DOMAIN = { domainName: 'p.example.co', hostedZoneId: 'Z1' };

const readWithWarnings = (context: Record<string, unknown>, stages?: Stages) =>
  readSettings(new App({ context }), stages);
const read = (context: Record<string, unknown>, stages?: Stages) => readWithWarnings(context, stages).settings;

test('returns the defaults without a context', () => {
  expect(read({})).toEqual({
    ephemeral: false,
    emulator: false,
    skipReleaseChecks: false,
    allowOrigins: [],
    requestsPerSecond: 100,
    cloudWatchRole: false,
  });
});

test.each<[Record<string, unknown>, Record<string, unknown>?]>([
  [{ ephemeral: 'true' }, { ephemeral: true }],
  [{ emulator: 'false' }, { emulator: false }],
  [{ cloudWatchRole: 'true' }, { cloudWatchRole: true }],
  [{ skipReleaseChecks: true }],
  [{ stage: 'd' }],
  [{ stage: 'Dev-2' }],
  [{ stage: `default${'s'.repeat(24)}` }],
  [{ alarmEmail: 'o@e.x' }],
  [{ runbookUrl: 'https://wiki.example/a?b=c' }],
  [{ allowOrigins: '*' }, { allowOrigins: ['*'] }],
  [{ allowOrigins: 'https://a.example,http://b:51' }, { allowOrigins: ['https://a.example', 'http://b:51'] }],
  [{ requestsPerSecond: '1' }, { requestsPerSecond: 1 }],
  [{ requestsPerSecond: 999_999 }],
  [{ webAclArn: WEB_ACL_ARN }],
  [{ webAclArn: WEB_ACL_ARN.replace('arn:aws', 'arn:aws-cn') }],
  [DOMAIN],
  [{ tokenIssuer: ISSUER, tokenAudience: 'a,https://b.example', tokenScope: 'plants/write' }],
])('accepts %j', (context, expected = context) => {
  expect(read(context)).toMatchObject(expected);
});

/** Each setting with the expected value in the error message, and invalid values. */
const INVALID: [key: string, expected: string, ...values: unknown[]][] = [
  ['ephemeral', 'true or false', 'untrue', '', 'true '],
  ['emulator', 'true or false', 1],
  ['cloudWatchRole', 'true or false', 'True'],
  ['stage', 'a letter and up to 30 letters, digits or hyphens', '', 'a'.repeat(32), 'a b', 'a_b', '1', '-a', 'default'],
  ['alarmEmail', 'an email address', '', 'ops@example', '@example.com', 'a@b@example.com', 'a@e.x b@e.x'],
  ['runbookUrl', 'an https URL', '', 'http://a.x', 'https://', 'https://a.x/#b', 'https://a.x/ b'],
  ['allowOrigins', 'origins such as', '', 'a.example', 'ftp://http.example', 'https://', 'https://A.example'],
  ['allowOrigins', 'origins such as', 'https://a.x/', '*,https://a.x', 'https://a.x, https://b.x', 'https://a.x,'],
  ['requestsPerSecond', 'a number from 1 to 999999', '0', 1_000_000, '', '-1', '1.5'],
  ['webAclArn', 'the ARN of a regional', 'rate-limit', WEB_ACL_ARN.replace('regional', 'global'), `${WEB_ACL_ARN}/`],
  ['webAclArn', 'the ARN of a regional', ` ${WEB_ACL_ARN}`, WEB_ACL_ARN.replace('123456789012', '12345678901')],
  ['tokenIssuer', 'the https URL', 'http://a.x', 'a.x', 'https://', 'https://a/?a', 'https://a/#a', 'https://a@b'],
  ['tokenIssuer', 'the https URL', ' https://a.x', 'https://a.x '],
  ['tokenAudience', 'one or more audiences, separated by commas', '', 'a,', ',a', 'a, b'],
  ['tokenScope', 'one scope', '', 'read write', '"write"', 'wri\\te', 'écrire'],
  ['domainName', 'a host name in lower case', 'https://a.example.com', 'plants', 'a.b.c', 'A.example.com', 'a.com.'],
  ['hostedZoneId', 'the id of a Route 53 hosted zone', 'plants.example.com', 'Z', 'Z1/', 'z1', '/hostedzone/Z1'],
];

test.each(INVALID.flatMap(([key, expected, ...values]) => values.map((value) => ({ key, expected, value }))))(
  'rejects $value as $key',
  ({ key, expected, value }) => {
    const message = `The setting "${key}" was ${JSON.stringify(value)}; it must be ${expected}`;
    expect(() => read({ [key]: value })).toThrow(message);
    if (['ephemeral', 'emulator', 'stage'].includes(key)) return;
    // Also rejected in a stage that is not synthesized.
    const stages = { staging: { [key]: value } } as Stages;
    expect(() => read({ stage: 'dev' }, stages)).toThrow(`In infra/stages.ts, in the stage "staging": ${message}`);
  },
);

test.each([
  [{ domainName: 'p.example.co' }, 'The setting "domainName" needs "hostedZoneId".'],
  [{ hostedZoneId: 'Z1' }, 'The setting "hostedZoneId" needs "domainName".'],
  [{ tokenIssuer: ISSUER }, 'The setting "tokenIssuer" needs "tokenAudience".'],
  [{ tokenAudience: 'a', tokenScope: 'b' }, 'The setting "tokenAudience" needs "tokenIssuer".'],
  [{ tokenScope: 'b' }, 'The setting "tokenScope" needs "tokenIssuer".'],
])('rejects %j without the other setting that it needs', (settings, message) => {
  expect(() => read(settings)).toThrow(message);
  expect(() => read({}, { default: settings })).toThrow(`In infra/stages.ts, in the stage "default": ${message}`);
});

test.each(['alarmMail', 'toString', 'stage'])('rejects the key %s in infra/stages.ts', (key) => {
  const stages = { staging: Object.fromEntries([[key, 'on']]) };
  expect(() => read({}, stages)).toThrow(`In infra/stages.ts, in the stage "staging": Unrecognized key: "${key}"`);
});

test('rejects a setting in the context that does not exist, but not CDK’s own keys', () => {
  for (const key of ['alarmMail', 'alarm-email']) {
    expect(() => read({ [key]: 'on' })).toThrow(`The setting "${key}" does not exist; it must be one of stage, `);
  }
  expect(() =>
    read({ 'cli-telemetry': false, 'aws:cdk:own': true, '@aws-cdk/own:key': true, 'availability-zones:account=1': [] }),
  ).not.toThrow();
});

test('rejects an invalid stage name in infra/stages.ts', () => {
  expect(() => read({}, { a_b: {} })).toThrow('In infra/stages.ts, in the stage "a_b": The setting "stage" was "a_b"');
});

const STAGES: Stages = {
  default: { ...DOMAIN, requestsPerSecond: 500, cloudWatchRole: true },
  staging: { alarmEmail: 'ops@a.example', allowOrigins: 'https://a.example', cloudWatchRole: false },
};

test.each([
  [{}, { ...DOMAIN, requestsPerSecond: 500, cloudWatchRole: true }],
  [{ stage: 'staging' }, { alarmEmail: 'ops@a.example', allowOrigins: ['https://a.example'], requestsPerSecond: 100 }],
  // A context key overrides only its own setting.
  [{ requestsPerSecond: '5' }, { ...DOMAIN, requestsPerSecond: 5, cloudWatchRole: true }],
])('with %j returns the settings of the stage', (context, expected) => {
  expect(read(context, STAGES)).toMatchObject(expected);
});

test.each([
  { stage: 'dev' },
  { stage: 'Staging' },
  { stage: 'constructor' },
  { ephemeral: true },
  { stage: 'staging', ephemeral: 'true' },
  { stage: 'staging', emulator: 'true' },
])('with %j ignores the settings in infra/stages.ts', (context) => {
  expect(read(context, STAGES)).toEqual(read(context));
});

const overrides = (value: string) =>
  expect.stringMatching(`^The setting "\\w+" is ".+" for this deployment only. The stage "\\w+" has ${value} in `);
const NO_ROLE = expect.stringMatching(/^The setting "cloudWatchRole" is missing\. .* aws apigateway get-account /);
const SKIPPED = expect.stringMatching(/^The setting "skipReleaseChecks" is true: .* at once, /);

test.each([
  ['a context key that overrides a setting', { requestsPerSecond: '5' }, { requestsPerSecond: overrides('500') }],
  ['a context key that the stage does not set', { alarmEmail: 'o@e.x' }, { alarmEmail: overrides('no value') }],
  ['a stage without cloudWatchRole', { stage: 'dev' }, { cloudWatchRole: NO_ROLE }],
  ['an ephemeral stack without cloudWatchRole', { ephemeral: true }, { cloudWatchRole: NO_ROLE }],
  ['skipped release checks', { skipReleaseChecks: 'true' }, { skipReleaseChecks: SKIPPED }],
])('warns about %s', (_case, context, expected) => {
  expect(readWithWarnings(context, STAGES).warnings).toEqual(expected);
});

test.each([
  ['the settings of the stage', {}],
  ['a context key with the value of the stage', { requestsPerSecond: '500' }],
  ['the context keys of an ephemeral stack', { ephemeral: true, cloudWatchRole: true, alarmEmail: 'o@e.x' }],
  ['an emulator', { stage: 'dev', emulator: true, alarmEmail: 'o@e.x', skipReleaseChecks: true }],
])('does not warn about %s', (_case, context) => {
  expect(readWithWarnings(context, STAGES).warnings).toEqual({});
});

test('the tables of docs/deploying.md have each setting with its default', () => {
  const document = readFileSync(join(import.meta.dirname, '../docs/deploying.md'), 'utf8');
  const rows = [...document.matchAll(/^\| `(\w+)` \| `?(\w+)`? \|/gm)].map(([, key, value]) => [key, value]);
  const defaults = new Map<string, unknown>(Object.entries(read({})));
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(settingKeys.map((key) => [key, String(defaults.get(key) ?? '') || 'none'])),
  );
});
