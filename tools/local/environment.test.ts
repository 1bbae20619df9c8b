import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { readEnvFile, useLocalEnvironment } from './environment.ts';

beforeEach(() => {
  const before = { ...process.env };
  onTestFinished(() => {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, before);
  });
});

test('reads the variables in .env, but keeps those that are set', () => {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-'));
  readEnvFile(folder);
  writeFileSync(join(folder, '.env'), 'PORT=1\nTOKEN_ISSUER="https://a.example"');
  process.env['PORT'] = '2';
  readEnvFile(folder);
  expect(process.env).toMatchObject({ PORT: '2', TOKEN_ISSUER: 'https://a.example' });
});

test('replaces everything of the person’s AWS account, and keeps other variables and endpoints of this machine', () => {
  const variables = { AWS_PROFILE: 'production', AWS_SESSION_TOKEN: 'x', AWS_REGION: 'eu-west-1' };
  const endpoints = { AWS_ENDPOINT_URL_S3: 'https://a.example', AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:4566' };
  Object.assign(process.env, variables, endpoints, { TOKEN_ISSUER: 'https://b.example' });
  useLocalEnvironment('http://127.0.0.1:9');
  expect(Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('AWS_')))).toEqual({
    AWS_ACCESS_KEY_ID: 'local',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9',
    AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:4566',
    AWS_REGION: 'us-east-1',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  });
  expect(process.env).toMatchObject({ TOKEN_ISSUER: 'https://b.example', PLANTS_TABLE_NAME: 'PlantsTable' });
});

test('rejects an origin in ALLOW_ORIGINS that the settings of a stage would reject', () => {
  process.env['ALLOW_ORIGINS'] = 'https://a.example,https://*.example.com';
  expect(() => useLocalEnvironment('http://127.0.0.1:9')).toThrow(
    'The allowed origin "https://*.example.com" must be ',
  );
});

test('an empty ALLOW_ORIGINS allows no origin', () => {
  process.env['ALLOW_ORIGINS'] = '';
  expect(() => useLocalEnvironment('http://127.0.0.1:1')).not.toThrow();
});
