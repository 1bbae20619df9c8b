import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { closedAtEnd } from '../test/support/closed-at-end.ts';
import { startEngine } from '../test/support/engine.ts';
import {
  announceService,
  dataDirectory,
  findRunningService,
  prepareDataDirectory,
  warnIfDeleted,
} from './running-service.ts';

/** Replaces the project's folder by a temporary one, to keep the user's data. */
vi.mock(import('./synthesize.ts'), async (original) => ({
  ...(await original()),
  projectRoot: mkdtempSync(join(tmpdir(), 'plant-store-')),
}));

const { endpoint } = closedAtEnd(await startEngine());
const outputs = { PlantsTableName: 'Plants' };
beforeEach(prepareDataDirectory);
afterEach(() => rmSync(dataDirectory, { recursive: true, force: true }));

test('finds no service before one is announced', async () => {
  expect(await findRunningService()).toBeUndefined();
});

test('finds the running service, and rejects a second one', async () => {
  announceService({ endpoint, outputs });
  expect(await findRunningService()).toEqual({ pid: process.pid, endpoint, outputs });
  await expect(prepareDataDirectory()).rejects.toThrow(
    `Another npm start or npm run dev of this folder is running: process ${process.pid}. End it.`,
  );
});

test('does not find a service that was killed', async () => {
  // No program listens on port 1.
  announceService({ endpoint: 'http://127.0.0.1:1', outputs });
  expect(await findRunningService()).toBeUndefined();
  await prepareDataDirectory();
});

test('warns when the folder of the service is deleted', async () => {
  announceService({ endpoint, outputs });
  warnIfDeleted();
  const print = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => print.mockRestore());
  rmSync(dataDirectory, { recursive: true });
  const warning = 'The data of this service, .local/, was deleted. Start it again: until then it may fail.';
  await expect.poll(() => print.mock.calls, { timeout: 20_000 }).toEqual([[warning]]);
});

test('says that the folder cannot be created', async () => {
  rmSync(dataDirectory, { recursive: true });
  writeFileSync(dataDirectory, '');
  await expect(prepareDataDirectory()).rejects.toThrow('The local run cannot create its folder: EEXIST');
});
