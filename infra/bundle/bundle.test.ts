import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { bundlesWith } from '../../test/support/stack.ts';
import { grantedOperations } from '../operations.ts';

const folderOf = bundlesWith({});
const folderWithProviderOf = bundlesWith({ tokenIssuer: 'https://id.example.com', tokenAudience: 'plants' });

describe.each(grantedOperations())('the bundle of $operationId', (operation) => {
  const folder = folderOf(operation);
  const content = readFileSync(join(folder, 'index.mjs'));

  test('is one file of at most 70 KB (20 KB zipped), which is not minified', () => {
    expect(readdirSync(folder)).toEqual(['index.mjs']);
    expect(content.length).toBeLessThanOrEqual(70_000);
    expect(gzipSync(content, { level: 9 }).length).toBeLessThanOrEqual(20_000);
    expect(content.toString()).toContain('// functions/shared/middleware/bearer-auth.ts\n');
  });

  test('with an identity provider, contains jose and has at most 130 KB', () => {
    const withProvider = readFileSync(join(folderWithProviderOf(operation), 'index.mjs'));
    expect(withProvider.toString()).toContain('/jose/dist/');
    expect(withProvider.length).toBeLessThanOrEqual(130_000);
  });

  test.each(['sourceMappingURL', 'eval(', 'new Function', 'ajv/dist', '@aws-sdk/', 'jose', 'jwt-verifier'])(
    'does not contain %s',
    (unwanted) => {
      expect(content.includes(unwanted)).toBe(false);
    },
  );

  test('does not load undici, node:vm or web streams at init', () => {
    const file = JSON.stringify(join(folder, 'index.mjs'));
    const script = `await import(${file}); console.log(process.moduleLoadList.join('\\n'));`;
    const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      env: {
        PLANTS_TABLE_NAME: 'plants',
        ACCESS_TOKENS_TABLE_NAME: 'access-tokens',
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'id',
        AWS_SECRET_ACCESS_KEY: 'secret',
        // Nothing listens on this port; the client is loaded anyway.
        AWS_ENDPOINT_URL_DYNAMODB: 'https://127.0.0.1:1',
      },
      encoding: 'utf8',
    });
    expect(loaded).toContain('NativeModule https');
    for (const unwanted of ['undici', 'NativeModule vm', 'webstreams']) expect(loaded).not.toContain(unwanted);
  });
});
