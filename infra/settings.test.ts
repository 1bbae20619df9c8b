import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { WEB_ACL_ARN } from '../test/support/stack.ts';
import { readContext, type Stages, warningsOf } from './settings.ts';

test.each([
  ['throwaway', undefined, false],
  ['throwaway', 'true', true],
  ['throwaway', true, true],
  ['throwaway', 'false', false],
  ['stage', undefined, undefined],
  ['stage', 'd', 'd'],
  ['stage', 'Dev-2', 'Dev-2'],
  ['stage', 'defaults', 'defaults'],
  ['stage', 'a'.repeat(31), 'a'.repeat(31)],
  ['alarmEmail', undefined, undefined],
  ['alarmEmail', 'o@e.x', 'o@e.x'],
  ['alarmEmail', 'ops@example.com', 'ops@example.com'],
  ['domain', undefined, undefined],
  ['allowOrigins', undefined, []],
  ['allowOrigins', '*', ['*']],
  ['allowOrigins', 'https://a.example,http://localhost:5173', ['https://a.example', 'http://localhost:5173']],
  ['requestsPerSecond', undefined, 100],
  ['requestsPerSecond', '1', 1],
  ['requestsPerSecond', 999999, 999999],
  ['tokenIssuer', undefined, undefined],
  ['webAclArn', undefined, undefined],
  ['webAclArn', WEB_ACL_ARN, WEB_ACL_ARN],
  ['webAclArn', WEB_ACL_ARN.replace('arn:aws', 'arn:aws-cn'), WEB_ACL_ARN.replace('arn:aws', 'arn:aws-cn')],
  ['cloudWatchRole', undefined, false],
  ['cloudWatchRole', 'true', true],
  ['emulator', undefined, false],
  ['emulator', 'true', true],
  ['skipReleaseChecks', undefined, false],
  ['skipReleaseChecks', 'true', true],
] as const)('the context key %s as %j means %j', (key, value, meaning) => {
  expect(readContext(new App({ context: { [key]: value } }))[key]).toEqual(meaning);
});

test.each([
  ['throwaway', 'untrue', 'true or false'],
  ['throwaway', '', 'true or false'],
  ['throwaway', 'true ', 'true or false'],
  ['cloudWatchRole', 'True', 'true or false'],
  ['emulator', 1, 'true or false'],
  ['stage', '', 'up to 31 letters'],
  ['stage', 'a'.repeat(32), 'up to 31 letters'],
  ['stage', 'a b', 'up to 31 letters'],
  ['stage', 'a_b', 'up to 31 letters'],
  ['stage', '1', 'a letter first'],
  ['stage', '-a', 'a letter first'],
  ['stage', 'default', 'the stack without a stage'],
  ['alarmEmail', '', 'an e-mail address'],
  ['alarmEmail', 'ops@example', 'an e-mail address'],
  ['alarmEmail', '@example.com', 'an e-mail address'],
  ['alarmEmail', 'a@b@example.com', 'an e-mail address'],
  ['alarmEmail', 'a@example.com b@example.com', 'an e-mail address'],
  ['allowOrigins', '', 'origins, separated by commas'],
  ['allowOrigins', 'app.example.com', 'origins as in'],
  ['allowOrigins', 'ftp://http.example.com', 'origins as in'],
  ['allowOrigins', 'https://', 'origins as in'],
  ['allowOrigins', 'https://App.example.com', 'origins as in'],
  ['allowOrigins', 'https://app.example.com/', 'origins as in'],
  ['allowOrigins', '*,https://a.example', 'origins as in'],
  ['allowOrigins', 'https://a.example, https://b.example', 'origins as in'],
  ['allowOrigins', 'https://a.example,', 'origins as in'],
  ['requestsPerSecond', '0', 'a number from 1 to 999999'],
  ['requestsPerSecond', 1_000_000, 'a number from 1 to 999999'],
  ['requestsPerSecond', '', 'a number from 1'],
  ['requestsPerSecond', '-1', 'a number from 1'],
  ['requestsPerSecond', '1.5', 'a number from 1'],
  ['webAclArn', 'rate-limit', 'the ARN of a regional web ACL'],
  ['webAclArn', WEB_ACL_ARN.replace('regional', 'global'), 'the ARN of a regional web ACL'],
  ['webAclArn', WEB_ACL_ARN.replace('123456789012', '12345678901'), 'the ARN of a regional web ACL'],
  ['webAclArn', WEB_ACL_ARN.replace('123456789012', '1234567890123'), 'the ARN of a regional web ACL'],
  ['webAclArn', ` ${WEB_ACL_ARN}`, 'the ARN of a regional web ACL'],
  ['webAclArn', `${WEB_ACL_ARN}/`, 'the ARN of a regional web ACL'],
  ['tokenIssuer', 'http://id.example.com', 'the https address of an identity provider'],
  ['tokenIssuer', 'id.example.com', 'the https address'],
  ['tokenIssuer', 'https://', 'the https address'],
  ['tokenIssuer', 'https://id.example.com/?a', 'the https address'],
  ['tokenIssuer', 'https://id.example.com/#a', 'the https address'],
  ['tokenIssuer', 'https://me@id.example.com', 'the https address'],
  ['tokenIssuer', ' https://id.example.com', 'the https address'],
  ['tokenIssuer', 'https://id.example.com ', 'the https address'],
  ['tokenAudience', '', 'one or several audiences'],
  ['tokenAudience', 'a,', 'one or several audiences'],
  ['tokenAudience', ',a', 'one or several audiences'],
  ['tokenAudience', 'a, b', 'one or several audiences'],
  ['tokenScope', '', 'one scope'],
  ['tokenScope', 'read write', 'one scope'],
  ['tokenScope', '"write"', 'one scope'],
  ['tokenScope', 'wri\\te', 'one scope'],
  ['tokenScope', 'écrire', 'one scope'],
  ['domainName', 'https://plants.example.com', 'a host name'],
  ['domainName', 'plants', 'a host name'],
  ['domainName', 'plants.example.c', 'a host name'],
  ['domainName', 'Plants.example.com', 'a host name in lower case'],
  ['domainName', 'plants.example.com.', 'a host name'],
  ['hostedZoneId', 'plants.example.com', 'the id of a Route 53 hosted zone'],
  ['hostedZoneId', 'Z', 'the id of a Route 53 hosted zone'],
  ['hostedZoneId', 'Z1/', 'the id of a Route 53 hosted zone'],
  ['hostedZoneId', 'z1', 'the id of a Route 53 hosted zone'],
  ['hostedZoneId', '/hostedzone/Z1', 'the id of a Route 53 hosted zone'],
])('the context key %s as %j is refused with a sentence', (key, value, kind) => {
  const read = () => readContext(new App({ context: { [key]: value } }));
  expect(read).toThrow(`The context key "${key}" was ${JSON.stringify(value)}; it must be `);
  expect(read).toThrow(kind);
});

test('the domain’s two keys together are a domain', () => {
  const domain = { domainName: 'p.example.co', hostedZoneId: 'Z1' };
  expect(readContext(new App({ context: domain })).domain).toEqual(domain);
});

test.each(['domainName', 'hostedZoneId'])('of the domain’s two keys, %s alone is refused', (key) => {
  const value = key === 'domainName' ? 'plants.example.com' : 'Z0123456789ABC';
  expect(() => readContext(new App({ context: { [key]: value } }))).toThrow(/must be both or none/);
});

const ISSUER = 'https://id.example.com/tenant/';

test.each([
  [{ tokenAudience: 'plants' }, { audiences: ['plants'], scope: undefined }],
  [
    { tokenAudience: 'a,https://b.example', tokenScope: 'plants/write' },
    { audiences: ['a', 'https://b.example'], scope: 'plants/write' },
  ],
])('an identity provider with %j', (keys, meaning) => {
  const { tokenIssuer } = readContext(new App({ context: { tokenIssuer: ISSUER, ...keys } }));
  expect(tokenIssuer).toEqual({ issuer: ISSUER, ...meaning });
});

test.each([
  [
    { tokenIssuer: ISSUER },
    'Of the context keys "tokenIssuer" and "tokenAudience" one was given; it must be both or none.',
  ],
  [
    { tokenAudience: 'a', tokenScope: 'b' },
    'Of the context keys "tokenIssuer" and "tokenAudience" one was given; it must be both or none.',
  ],
  [{ tokenScope: 'b' }, 'The context key "tokenScope" was "b" without "tokenIssuer"; it must have both.'],
  [
    { tokenIssuer: 'https://a:b', tokenAudience: 'a' },
    'The context key "tokenIssuer" was "https://a:b"; it must be the https address',
  ],
])('of an identity provider, %j alone is refused', (context, refusal) => {
  expect(() => readContext(new App({ context }))).toThrow(refusal);
});

const STAGES: Stages = {
  default: { domainName: 'p.example.com', hostedZoneId: 'Z1', requestsPerSecond: 500, cloudWatchRole: true },
  staging: {
    alarmEmail: 'ops@example.com',
    allowOrigins: 'https://a.example,https://b.example',
    cloudWatchRole: false,
  },
};
const PRODUCTION = { domainName: 'p.example.com', hostedZoneId: 'Z1' };

const contextWith = (context: Record<string, unknown>, stages = STAGES) => readContext(new App({ context }), stages);

test('a stack has its stage’s settings', () => {
  expect(contextWith({})).toMatchObject({ domain: PRODUCTION, requestsPerSecond: 500, cloudWatchRole: true });
  expect(contextWith({ stage: 'staging' })).toMatchObject({
    alarmEmail: 'ops@example.com',
    allowOrigins: ['https://a.example', 'https://b.example'],
    domain: undefined,
    requestsPerSecond: 100,
    cloudWatchRole: false,
  });
});

test.each([
  { stage: 'dev' },
  { stage: 'Staging' },
  { stage: 'constructor' },
  { throwaway: true },
  { stage: 'staging', throwaway: 'true' },
  { emulator: true },
  { stage: 'staging', emulator: 'true' },
])('%j is no stage of the file, and has none of its settings', (context) => {
  expect(contextWith(context)).toEqual(contextWith(context, {}));
});

test('a context key is used in place of the stage’s setting, and the others stay', () => {
  expect(contextWith({ requestsPerSecond: '5', cloudWatchRole: 'false' })).toMatchObject({
    domain: PRODUCTION,
    requestsPerSecond: 5,
    cloudWatchRole: false,
  });
  expect(contextWith({ domainName: 'try.example.com' }).domain).toEqual({
    ...PRODUCTION,
    domainName: 'try.example.com',
  });
});

test.each<[string, Stages[string], string]>([
  ['staging', { alarmEmail: 'ops' }, 'The context key "alarmEmail" was "ops"; it must be an e-mail address.'],
  ['staging', { requestsPerSecond: 0 }, 'The context key "requestsPerSecond" was 0; it must be a number from 1'],
  ['staging', { cloudWatchRole: 'yes' }, 'The context key "cloudWatchRole" was "yes"; it must be true or false.'],
  [
    'default',
    { allowOrigins: 'a.example' },
    'The context key "allowOrigins" was "a.example"; it must be origins as in',
  ],
  ['default', { tokenIssuer: ISSUER }, 'Of the context keys "tokenIssuer" and "tokenAudience" one was given'],
  ['default', { hostedZoneId: 'Z1' }, 'Of the context keys "domainName" and "hostedZoneId" one was given; it must be'],
])('in the stage %s, %j is refused whichever stage is synthesized', (name, settings, refusal) => {
  for (const stage of ['dev', 'staging', undefined]) {
    expect(() => contextWith({ stage }, { [name]: settings })).toThrow(
      `In infra/stages.ts, in the stage "${name}": ${refusal}`,
    );
  }
});

test.each(['alarmMail', 'toString', 'stage', 'throwaway', 'emulator', 'skipReleaseChecks'])(
  'the key %s is none that a stage can set',
  (key) => {
    expect(() => contextWith({}, { staging: Object.fromEntries([[key, 'on']]) })).toThrow(
      `In infra/stages.ts, in the stage "staging": The key "${key}" (here "on") is unknown; it must be one of alarmEmail, `,
    );
  },
);

test.each(['a_b', '', 'a'.repeat(32)])('a stage of the file cannot be called %j', (name) => {
  expect(() => contextWith({}, { [name]: {} })).toThrow(
    `In infra/stages.ts, a stage was "${name}"; it must be "default", or up to 31 letters`,
  );
});

const warnings = (context: Record<string, unknown>) => [...warningsOf(new App({ context }), STAGES).values()];

test('a context key that is not as the stage has it is told, with what the next deployment goes back to', () => {
  expect(warnings({ requestsPerSecond: '5', alarmEmail: 'o@e.x' })).toEqual([
    'The context key "alarmEmail" is "o@e.x" for this deployment only. The stage "default" has none in ' +
      'infra/stages.ts, and the next deployment without the key goes back to that.',
    'The context key "requestsPerSecond" is "5" for this deployment only. The stage "default" has "500" in ' +
      'infra/stages.ts, and the next deployment without the key goes back to that.',
  ]);
  expect(warnings({ stage: 'staging', cloudWatchRole: true })).toEqual([
    expect.stringMatching(/"cloudWatchRole" is "true" for this deployment only. The stage "staging" has "false"/),
  ]);
});

test('a stage’s own settings, also where a context key repeats one, are told nobody', () => {
  expect(warnings({})).toEqual([]);
  expect(warnings({ requestsPerSecond: 500 })).toEqual([]);
  expect(warnings({ stage: 'staging' })).toEqual([]);
});

test('of a throw-away stack and one for an emulator, which have context keys alone, these are told nobody', () => {
  expect(warnings({ throwaway: true, cloudWatchRole: true, alarmEmail: 'o@e.x' })).toEqual([]);
  expect(warnings({ emulator: true, cloudWatchRole: true, alarmEmail: 'o@e.x' })).toEqual([]);
});

test('whoever has not said whether the role for logs is there is asked, before anything is made', () => {
  const question = expect.stringMatching(/^It is not said whether .* Run: aws apigateway get-account /);
  expect(warnings({ stage: 'dev' })).toEqual([question]);
  expect(warnings({ stage: 'dev' })[0]).toMatch(/ Set it by -c, or for the stage "dev" in infra\/stages.ts.$/);
  expect(warnings({ throwaway: true })).toEqual([question]);
  expect(warnings({ throwaway: true })[0]).toMatch(/ Set it by -c\.$/);
  expect(warnings({ stage: 'dev', emulator: true })).toEqual([]);
});

test('warns each time that the checks of a release are skipped, and keeps the settings of the stage', () => {
  const context = { skipReleaseChecks: 'true' };
  expect(warnings(context)).toEqual([
    expect.stringMatching(/^The context key "skipReleaseChecks" is true: .* at once, /),
  ]);
  expect(warnings({ skipReleaseChecks: 'false' })).toEqual([]);
  expect(contextWith(context)).toEqual({ ...contextWith({}), skipReleaseChecks: true });
});

test('docs/deploying.md lists every context key', () => {
  const document = readFileSync(join(import.meta.dirname, '../docs/deploying.md'), 'utf8');
  const { domain: _, ...context } = readContext(new App());
  for (const key of [...Object.keys(context), 'domainName', 'hostedZoneId']) expect(document).toContain(`-c ${key}=`);
});
