import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { App, type Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import type { Operation } from '../../contract/operations.ts';
import { functionOf, stackWith } from '../../test/support/stack.ts';
import { grantedOperations } from '../operations.ts';

const PROVIDER = { tokenIssuer: 'https://id.example.com', tokenAudience: 'plants' };

let stack: ReturnType<typeof stackWith> | undefined;
let stackWithProvider: ReturnType<typeof stackWith> | undefined;

/** The folders of the cloud assembly and, in it, of an operation's bundle. All are bundled once. */
function bundled(operation: Operation) {
  stack ??= stackWith({ 'aws:cdk:bundling-stacks': ['**'] });
  return bundleIn(stack, operation);
}

/** The same in a stack with an identity provider. */
function bundledWithProvider(operation: Operation) {
  stackWithProvider ??= stackWith({ 'aws:cdk:bundling-stacks': ['**'], ...PROVIDER });
  return bundleIn(stackWithProvider, operation);
}

function bundleIn(stack: Stack, operation: Operation) {
  const assembly = App.of(stack)?.synth().directory ?? '';
  const [hash] = functionOf(Template.fromStack(stack), operation).properties.Code.S3Key.split('.');
  return { assembly, asset: join(assembly, `asset.${hash}`) };
}

const contentOf = (operation: Operation) => readFileSync(join(bundled(operation).asset, 'index.mjs'));

describe.each(grantedOperations())('the bundle of $operationId', (operation) => {
  test('is one readable file of at most 70 KB, 20 KB zipped', () => {
    expect(readdirSync(bundled(operation).asset)).toEqual(['index.mjs']);
    expect(contentOf(operation).length).toBeLessThanOrEqual(70_000);
    expect(gzipSync(contentOf(operation), { level: 9 }).length).toBeLessThanOrEqual(20_000);
    expect(contentOf(operation).toString()).toContain('// functions/shared/middleware/bearer-auth.ts\n');
  });

  test('is the same with an identity provider, whose 65 KB are a file beside it', () => {
    const { asset } = bundledWithProvider(operation);
    expect(readdirSync(asset).toSorted()).toEqual(['identity-provider.mjs', 'index.mjs']);
    expect(readFileSync(join(asset, 'index.mjs')).equals(contentOf(operation))).toBe(true);
    const provider = readFileSync(join(asset, 'identity-provider.mjs'), 'utf8');
    expect(provider.length).toBeLessThanOrEqual(65_000);
  });

  test.each(['sourceMappingURL', 'eval(', 'new Function', 'ajv/dist', '@aws-sdk/'])('holds no %s', (unwanted) => {
    expect(contentOf(operation).includes(unwanted)).toBe(false);
  });

  test('loads no undici, no schema compiler and no web streams at init', () => {
    const file = JSON.stringify(join(bundled(operation).asset, 'index.mjs'));
    const script = `await import(${file}); console.log(process.moduleLoadList.join('\\n'));`;
    const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      env: {
        PLANTS_TABLE_NAME: 'plants',
        ACCESS_TOKENS_TABLE_NAME: 'access-tokens',
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'id',
        AWS_SECRET_ACCESS_KEY: 'secret',
        // Nothing listens there; the client is loaded all the same.
        AWS_ENDPOINT_URL_DYNAMODB: 'https://127.0.0.1:1',
      },
      encoding: 'utf8',
    });
    expect(loaded).toContain('NativeModule https');
    for (const unwanted of ['undici', 'NativeModule vm', 'webstreams']) expect(loaded).not.toContain(unwanted);
  });
});
