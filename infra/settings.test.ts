import { App } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { readSettings, type Stages } from './settings.ts';

const ISSUER = 'https://id.example.com/tenant/';
const DOMAIN = { domainName: 'p.example.co', hostedZoneId: 'Z1' };

const readWithWarnings = (context: Record<string, unknown>, stages?: Stages) =>
  readSettings(new App({ context }), stages);
const read = (context: Record<string, unknown>, stages?: Stages) => readWithWarnings(context, stages).settings;

test('returns the defaults without a context', () => {
  expect(read({})).toEqual({
    ephemeral: false,
    skipReleaseChecks: false,
    allowOrigins: [],
    requestsPerSecond: 100,
    cloudWatchRole: false,
  });
});

test.each<[Record<string, unknown>, Record<string, unknown>?]>([
  [{ ephemeral: 'true' }, { ephemeral: true }],
  [{ stage: 'Dev-2' }],
  [{ stage: `default${'s'.repeat(24)}` }],
  [{ allowOrigins: '*' }, { allowOrigins: ['*'] }],
  [{ allowOrigins: 'https://a.example,http://b:51' }, { allowOrigins: ['https://a.example', 'http://b:51'] }],
  [{ requestsPerSecond: '1' }, { requestsPerSecond: 1 }],
  [DOMAIN],
  [{ tokenIssuer: ISSUER, tokenAudience: 'a,https://b.example', tokenScope: 'plants/write' }],
])('accepts %j', (context, expected = context) => {
  expect(read(context)).toMatchObject(expected);
});

/** Each setting with a part of its error message, and invalid values. */
const INVALID: [key: string, message: string, ...values: unknown[]][] = [
  ['ephemeral', 'Invalid option: expected one of "true"|"false".', '', 'True', 1],
  ['stage', 'expected a letter and up to 30 ', '', 'a'.repeat(32), 'a_b', '1', 'default'],
  ['alarmEmail', 'Invalid email address.', 'ops@example'],
  ['runbookUrl', 'expected an https URL', 'http://a.x', 'https://a.x/#b', 'https://a.x/ b'],
  ['allowOrigins', 'expected origins such as', '', 'ftp://a.example', 'https://a.x/', '*,https://a.x'],
  ['requestsPerSecond', 'Too small: expected number to be >=1.', '0', ''],
  ['tokenIssuer', 'expected the https URL', 'http://a.x', 'https://a/?a', 'https://a/#a', 'https://a@b'],
  ['tokenAudience', 'expected one or more audiences, separated by commas.', '', 'a,', ',a', 'a, b'],
  ['tokenScope', 'expected one scope', '', 'read write', '"write"', 'wri\\te', 'écrire'],
  ['domainName', 'expected a host name in lower case.', 'https://a.example.com', 'plants', 'A.example.com'],
  ['hostedZoneId', 'expected the id of a Route 53 hosted zone', 'plants.example.com', 'z1', '/hostedzone/Z1'],
];

const EACH = INVALID.flatMap(([key, message, ...values]) => values.map((value) => ({ key, message, value })));

test.each(EACH)('rejects $value as $key', ({ key, message, value }) => {
  expect(() => read({ [key]: value })).toThrow(`The setting "${key}" was ${JSON.stringify(value)}: `);
  expect(() => read({ [key]: value })).toThrow(message);
});

test('names every invalid setting of a stage, even of one that is not synthesized', () => {
  const stages = { staging: { alarmEmail: 'ops', requestsPerSecond: '0' } };
  expect(() => read({ stage: 'dev' }, stages)).toThrow(
    'In infra/stages.ts, in the stage "staging": The setting "alarmEmail" was "ops": Invalid email address. ' +
      'The setting "requestsPerSecond" was "0": Too small: expected number to be >=1.',
  );
  const unknown = { staging: Object.fromEntries([['stage', 'on']]) };
  expect(() => read({}, unknown)).toThrow('In infra/stages.ts, in the stage "staging": Unrecognized key: "stage"');
  expect(() => read({}, { a_b: {} })).toThrow('In infra/stages.ts, in the stage "a_b": The setting "stage" was "a_b"');
});

test.each([
  [{ domainName: 'p.example.co' }, 'The settings domainName and hostedZoneId need each other.'],
  [{ tokenIssuer: ISSUER }, 'The settings tokenIssuer and tokenAudience need each other.'],
  [{ tokenAudience: 'a' }, 'The settings tokenIssuer and tokenAudience need each other.'],
  [{ tokenScope: 'b' }, 'The setting tokenScope needs tokenIssuer.'],
])('rejects %j without the other setting that it needs', (settings, message) => {
  expect(() => read(settings)).toThrow(message);
  expect(() => read({}, { default: settings })).toThrow(`In infra/stages.ts, in the stage "default": ${message}`);
});

test('rejects a setting in the context that does not exist, but not CDK’s own keys', () => {
  for (const key of ['alarmMail', 'alarm-email']) {
    expect(() => read({ [key]: 'on' })).toThrow(`The setting "${key}" does not exist; it must be one of stage, `);
  }
  expect(() =>
    read({ 'cli-telemetry': false, 'aws:cdk:own': true, '@aws-cdk/own:key': true, 'availability-zones:account=1': [] }),
  ).not.toThrow();
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

test.each([{ stage: 'dev' }, { stage: 'constructor' }, { ephemeral: true }, { stage: 'staging', ephemeral: 'true' }])(
  'with %j ignores the settings in infra/stages.ts',
  (context) => {
    expect(read(context, STAGES)).toEqual(read(context));
  },
);

const overrides = (value: string) =>
  expect.stringMatching(`^The setting "\\w+" is ".+" for this deployment only. The next .* uses ${value} \\(infra/`);
const NO_ROLE = expect.stringMatching(/^The setting "cloudWatchRole" is missing\. .* aws apigateway get-account /);
const SKIPPED = expect.stringMatching(/^The setting "skipReleaseChecks" is true: .* at once, /);

test.each([
  ['a context key that overrides a setting', { requestsPerSecond: '5' }, { requestsPerSecond: overrides('500') }],
  ['a context key that the stage does not set', { alarmEmail: 'o@e.co' }, { alarmEmail: overrides('the default') }],
  ['a stage without cloudWatchRole', { stage: 'dev' }, { cloudWatchRole: NO_ROLE }],
  ['skipped release checks', { skipReleaseChecks: 'true' }, { skipReleaseChecks: SKIPPED }],
])('warns about %s', (_case, context, expected) => {
  expect(readWithWarnings(context, STAGES).warnings).toEqual(expected);
});

test.each([
  ['the settings of the stage', {}],
  ['a context key with the value of the stage', { requestsPerSecond: '500' }],
  ['the context keys of an ephemeral stack', { ephemeral: true, cloudWatchRole: true, alarmEmail: 'o@e.co' }],
])('does not warn about %s', (_case, context) => {
  expect(readWithWarnings(context, STAGES).warnings).toEqual({});
});
