import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { WEB_ACL_ARN } from '../test/support/stack.ts';
import { readContext } from './context.ts';

test.each([
  ['throwaway', undefined, false],
  ['throwaway', 'true', true],
  ['throwaway', true, true],
  ['throwaway', 'false', false],
  ['stage', undefined, undefined],
  ['stage', 'd', 'd'],
  ['stage', 'Dev-2', 'Dev-2'],
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
  ['webAclArn', undefined, undefined],
  ['webAclArn', WEB_ACL_ARN, WEB_ACL_ARN],
  ['webAclArn', WEB_ACL_ARN.replace('arn:aws', 'arn:aws-cn'), WEB_ACL_ARN.replace('arn:aws', 'arn:aws-cn')],
  ['cloudWatchRole', undefined, false],
  ['cloudWatchRole', 'true', true],
  ['emulator', undefined, false],
  ['emulator', 'true', true],
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

test('docs/deploying.md lists every context key', () => {
  const document = readFileSync(join(import.meta.dirname, '../docs/deploying.md'), 'utf8');
  const { domain: _, ...context } = readContext(new App());
  for (const key of [...Object.keys(context), 'domainName', 'hostedZoneId']) expect(document).toContain(`-c ${key}=`);
});
