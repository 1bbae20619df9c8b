import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
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
  ['stage', 'dev-2', 'dev-2'],
  ['alarmEmail', 'ops@example.com', 'ops@example.com'],
  ['allowOrigins', undefined, []],
  ['allowOrigins', '*', ['*']],
  ['allowOrigins', 'https://a.example,http://localhost:5173', ['https://a.example', 'http://localhost:5173']],
  ['requestsPerSecond', undefined, 100],
  ['requestsPerSecond', '5', 5],
  ['requestsPerSecond', 5, 5],
  ['webAclArn', undefined, undefined],
  ['webAclArn', WEB_ACL_ARN, WEB_ACL_ARN],
  ['cloudWatchRole', undefined, false],
  ['emulator', undefined, false],
] as const)('the context key %s as %j means %j', (key, value, meaning) => {
  expect(readContext(new App({ context: { [key]: value } }))[key]).toEqual(meaning);
});

test.each([
  ['throwaway', 'yes', 'true or false'],
  ['stage', '', 'up to 31 letters'],
  ['stage', 'a b', 'up to 31 letters'],
  ['stage', '1', 'a letter first'],
  ['alarmEmail', 'ops', 'an e-mail address'],
  ['allowOrigins', 'app.example.com', 'origins as in'],
  ['allowOrigins', 'https://app.example.com/', 'origins as in'],
  ['allowOrigins', '*,https://a.example', 'origins as in'],
  ['allowOrigins', 'https://a.example, https://b.example', 'origins as in'],
  ['requestsPerSecond', '0', 'a number from 1'],
  ['requestsPerSecond', '1.5', 'a number from 1'],
  ['webAclArn', 'rate-limit', 'the ARN of a regional web ACL'],
  ['webAclArn', WEB_ACL_ARN.replace('regional', 'global'), 'the ARN of a regional web ACL'],
  ['domainName', 'https://plants.example.com', 'a host name'],
  ['hostedZoneId', 'plants.example.com', 'the id of a Route 53 hosted zone'],
])('the context key %s as %j is refused with a sentence', (key, value, kind) => {
  const read = () => readContext(new App({ context: { [key]: value } }));
  expect(read).toThrow(`The context key "${key}" was ${JSON.stringify(value)}; it must be `);
  expect(read).toThrow(kind);
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

test('a synthesis that is refused ends with a sentence', async () => {
  const app = promisify(execFile)(process.execPath, ['infra/app.ts'], {
    env: { ...process.env, CDK_CONTEXT_JSON: '{"throwaway":"yes"}' },
  });
  const stderr = 'The context key "throwaway" was "yes"; it must be true or false.\n';
  await expect(app).rejects.toMatchObject({ code: 1, stderr });
});
