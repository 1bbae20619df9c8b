import { existsSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './synthesize.ts';

/** The folder of the local run: what is stored, and its builds. */
export const dataDirectory = join(projectRoot, '.local');
/** Exists while a service is running. */
const serviceFile = join(dataDirectory, 'service.json');

/** What the running service tells the other commands. */
interface RunningService {
  pid: number;
  /** The endpoint of its DynamoDB. */
  endpoint: string;
  /** The outputs of its stack, such as the names of the tables. */
  outputs: Record<string, string>;
}

/** Returns the running service of this folder, or undefined if there is none. */
export async function findRunningService(): Promise<RunningService | undefined> {
  if (!existsSync(serviceFile)) return undefined;
  const service: RunningService = JSON.parse(readFileSync(serviceFile, 'utf8'));
  // A service that was killed could not delete its file.
  const response = await fetch(service.endpoint).catch(() => undefined);
  return response && service;
}

/** Creates the folder. Throws if another service is running in it, because two cannot have the stored data open. */
export async function prepareDataDirectory(): Promise<void> {
  try {
    mkdirSync(dataDirectory, { recursive: true });
  } catch (error) {
    throw new Error(`The local run cannot create its folder: ${(error as Error).message}`);
  }
  const other = await findRunningService();
  if (other)
    throw new Error(`Another npm start or npm run dev of this folder is running: process ${other.pid}. End it.`);
}

/** Tells the other commands that this process is the running service, until it ends. */
export function announceService(service: Omit<RunningService, 'pid'>): void {
  writeFileSync(serviceFile, JSON.stringify({ pid: process.pid, ...service }));
  process.on('exit', () => rmSync(serviceFile, { force: true }));
}

/** Prints a warning when the folder of this service is deleted. */
export function warnIfDeleted(): void {
  const watcher = watch(dataDirectory, { persistent: false }, () => {
    if (existsSync(serviceFile)) return;
    watcher.close();
    console.error('The data of this service, .local/, was deleted. Start it again: until then it may fail.');
  });
}
