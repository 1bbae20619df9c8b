import { existsSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './synthesize.ts';

/** The folder of the local run: the stored data and the builds. */
export const dataDirectory = join(projectRoot, '.local');
const serviceFile = join(dataDirectory, 'service.json');

/** The contents of service.json. A service that has not built the stack yet has only `pid`. */
interface Service {
  pid: number;
  /** The endpoint of its DynamoDB. */
  endpoint?: string;
  /** The outputs of its stack, such as the names of the tables. */
  outputs?: Record<string, string>;
}

/** Returns the service that runs in this folder, or undefined if there is none. */
export async function findService(): Promise<Service | undefined> {
  const service = readService();
  // A service that was killed could not delete its file. Since then, another process may have its id or its port.
  if (!service || !isAlive(service.pid)) return undefined;
  if (service.endpoint === undefined) return service;
  const isRunning = await fetch(service.endpoint, { signal: AbortSignal.timeout(2000) }).then(
    () => true,
    // A service that is suspended does not respond.
    ({ name }: Error) => name === 'TimeoutError',
  );
  return isRunning ? service : undefined;
}

function readService(): Service | undefined {
  try {
    return JSON.parse(readFileSync(serviceFile, 'utf8'));
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Makes this process the service of this folder, until it ends. Throws if there is another one. */
export async function claimDataDirectory(): Promise<void> {
  try {
    mkdirSync(dataDirectory, { recursive: true });
  } catch (error) {
    throw new Error(`The local run cannot create its folder: ${(error as Error).message}`);
  }
  const other = await findService();
  if (other)
    throw new Error(`Another npm start or npm run dev of this folder is running: process ${other.pid}. End it.`);
  announceService({});
  process.on('exit', () => {
    if (readService()?.pid === process.pid) rmSync(serviceFile);
  });
}

/** Tells the other commands where the data of this service is. */
export function announceService(service: Omit<Service, 'pid'>): void {
  writeFileSync(serviceFile, JSON.stringify({ pid: process.pid, ...service }));
}

/** Prints a warning when the folder of this service is deleted. */
export function warnIfDeleted(): void {
  const watcher = watch(dataDirectory, { persistent: false }, () => {
    if (existsSync(serviceFile)) return;
    watcher.close();
    console.error('The data of this service, .local/, was deleted. Start it again: until then it may fail.');
  });
}
