import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDynamoDb } from './dynamodb.ts';
import { announceLocalRun, findLocalRun } from './local-run.ts';

const temporaryFolder = () => mkdtempSync(join(tmpdir(), 'plant-store-'));

test('finds only the local run of its folder, and only while its process and its DynamoDB’s port are in use', async () => {
  const url = 'http://127.0.0.1:3000';
  const [folder, other] = [temporaryFolder(), temporaryFolder()];
  const { endpoint, close } = await openDynamoDb();
  onTestFinished(close);
  expect(await findLocalRun(folder)).toBeUndefined();
  announceLocalRun(endpoint, url, folder);
  expect(await findLocalRun(folder)).toEqual({ endpoint, url, pid: process.pid });
  expect(await findLocalRun(other)).toBeUndefined();
  // No program listens on port 1.
  announceLocalRun('http://127.0.0.1:1', url, folder);
  expect(await findLocalRun(folder)).toBeUndefined();
  // Process ids are below 2^22.
  writeFileSync(join(folder, 'local-run.json'), JSON.stringify({ endpoint, url, pid: 2 ** 30 }));
  expect(await findLocalRun(folder)).toBeUndefined();
});
