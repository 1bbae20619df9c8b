import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { closedAtEnd } from '../../test/support/closed-at-end.ts';
import { startEngine } from '../../test/support/engine.ts';
import { listen } from '../../test/support/listen.ts';
import { announceService, claimDataDirectory, dataDirectory, findService, warnIfDeleted } from './running-service.ts';

/** Replaces the project's folder by a temporary one, to keep the user's data. */
vi.mock(import('./synthesize.ts'), async (original) => ({
  ...(await original()),
  projectRoot: mkdtempSync(join(tmpdir(), 'plant-store-')),
}));

const { endpoint } = closedAtEnd(await startEngine());
const outputs = { PlantsTableName: 'Plants' };
const serviceFile = join(dataDirectory, 'service.json');
/** No program listens on port 1. */
const UNREACHABLE = 'http://127.0.0.1:1';
const REJECTION = `Another npm start or npm run dev of this folder is running: process ${process.pid}. End it.`;
beforeEach(async () => {
  rmSync(dataDirectory, { recursive: true, force: true });
});

test('finds no service before one has started', async () => {
  expect(await findService()).toBeUndefined();
});

test('finds a service that has started, and rejects a second one', async () => {
  await claimDataDirectory();
  await expect(claimDataDirectory()).rejects.toThrow(REJECTION);
  expect(await findService()).toEqual({ pid: process.pid });
  announceService({ endpoint, outputs });
  expect(await findService()).toEqual({ pid: process.pid, endpoint, outputs });
  await expect(claimDataDirectory()).rejects.toThrow(REJECTION);
});

test.each([
  ['has ended', { pid: spawnSync('true').pid, endpoint }],
  ['has ended, if another process has its id', { pid: process.pid, endpoint: UNREACHABLE }],
])('does not find a service that %s', async (_, service) => {
  await claimDataDirectory();
  writeFileSync(serviceFile, JSON.stringify(service));
  expect(await findService()).toBeUndefined();
  await claimDataDirectory();
  expect(JSON.parse(readFileSync(serviceFile, 'utf8'))).toEqual({ pid: process.pid });
});

test('rejects a second service although the first does not respond', async () => {
  const server = createServer(() => {});
  onTestFinished(() => void server.close());
  await claimDataDirectory();
  announceService({ endpoint: `http://${await listen(server)}`, outputs });
  await expect(claimDataDirectory()).rejects.toThrow(REJECTION);
});

test('warns when the folder of the service is deleted', async () => {
  await claimDataDirectory();
  warnIfDeleted();
  const print = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => print.mockRestore());
  rmSync(dataDirectory, { recursive: true });
  const warning = 'The data of this service, .local/, was deleted. Start it again: until then it may fail.';
  await expect.poll(() => print.mock.calls, { timeout: 20_000 }).toEqual([[warning]]);
});

test('says that the folder cannot be created', async () => {
  writeFileSync(dataDirectory, '');
  await expect(claimDataDirectory()).rejects.toThrow('The local run cannot create its folder: EEXIST');
});
