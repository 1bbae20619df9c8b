import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { projectRoot } from '../project-root.ts';

/** The folder of the local run's data. */
export const dataFolder = join(projectRoot, '.local');

interface LocalRun {
  /** The endpoint of its DynamoDB. */
  endpoint: string;
  /** The base URL of its API, which test/smoke/smoke.ts reads. */
  url: string;
  /** The id of its process. */
  pid: number;
}

const localRunFile = (folder: string) => join(folder, 'local-run.json');

/** Writes a file with which `findLocalRun` finds the local run until this process ends. */
export function announceLocalRun(endpoint: string, url: string, folder = dataFolder): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(localRunFile(folder), JSON.stringify({ endpoint, url, pid: process.pid } satisfies LocalRun));
}

/** Finds the local run of this folder. Returns undefined if none is running. */
export async function findLocalRun(folder = dataFolder): Promise<LocalRun | undefined> {
  try {
    const found: LocalRun = JSON.parse(readFileSync(localRunFile(folder), 'utf8'));
    // A process that was killed leaves the file, and another one can have its id or its port. So both must be in use.
    process.kill(found.pid, 0);
    const { hostname, port } = new URL(found.endpoint);
    const socket = connect(Number(port), hostname.replaceAll(/[[\]]/g, ''));
    await once(socket, 'connect');
    socket.destroy();
    return found;
  } catch {
    return undefined;
  }
}
