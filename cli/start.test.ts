import { appendFileSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { inContract } from '../test/support/contract.ts';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { startFaultProxy } from '../test/support/fault-proxy.ts';
import { copyProject, type LocalRun, type ProjectCopy } from '../test/support/project-copy.ts';

/* As a user starts it: npm passes signals on, in a way of its own. */

/** Ends a hang, also on a slow machine. */
const POLL = { timeout: 120_000, interval: 20 };

let project: ProjectCopy;
let engine: Engine;
let database: Awaited<ReturnType<typeof startFaultProxy>>;
beforeAll(async () => {
  project = copyProject();
  engine = await startEngine();
  return async () => {
    project.remove();
    await engine.close();
  };
});
beforeEach(async () => {
  database = await startFaultProxy(engine.endpoint);
});
afterEach(() => database.close());

const generatedFile = () => join(project.directory, 'functions/create-plant/contract.generated.d.ts');
const start = (command: string) => project.start(command, { AWS_ENDPOINT_URL_DYNAMODB: database.endpoint });

/** Creates a plant; `none` without a response. */
async function create({ url }: LocalRun, body: string) {
  const headers = { authorization: `Bearer ${DEVELOPMENT_TOKEN}`, 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined);
  if (!response) return 'none';
  const { status: statusCode } = response;
  return inContract({ statusCode, headers: Object.fromEntries(response.headers), body: await response.text() });
}

test('ends with a sentence if PORT is not a port', async () => {
  const { code, stderr } = await project.run('npm run --silent start', { PORT: '65536' });
  expect(code).toBe(1);
  expect(stderr).toContain('PORT was "65536"; it must be a number from 0 to 65535.\n');
});

test('listens on port 3000 by default, and ends with a sentence if it is in use', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  // If another program has the port, that serves this test too.
  await new Promise<void>((resolve) => {
    server.on('error', () => resolve()).listen(3000, '127.0.0.1', resolve);
  });
  const variables = { PORT: '', AWS_ENDPOINT_URL_DYNAMODB: database.endpoint };
  const { code, stderr } = await project.run('npm run --silent start', variables);
  expect(code).toBe(1);
  expect(stderr).toContain('Port 3000 is in use; set PORT to a free one, or to 0 for any.\n');
});

test('npm start generates nothing, and responds to a request in progress after Ctrl-C, whatever else is connected', async () => {
  appendFileSync(generatedFile(), '// mine');
  const run = await start('npm start');
  expect(readFileSync(generatedFile(), 'utf8')).toContain('// mine');
  const head = 'POST /plants HTTP/1.1\r\nhost: x\r\n';
  for (const bytes of ['', head, `${head}content-length: 9\r\n\r\n{`]) {
    const socket = connect(Number(new URL(run.url).port), '127.0.0.1').on('error', () => {});
    socket.write(bytes);
  }
  await create(run, '{"id":71,"name":"warm up"}');
  const response = create(run, '{"id":72,"name":"in progress"}');
  await expect.poll(() => database.calls.filter((call) => call.startsWith('PutItem')).length, POLL).toBeGreaterThan(2);
  run.interrupt();
  expect(await response).toEqual({ name: 'in progress' });
  expect(await run.exit).toBe(0);
});

test('npm run dev generates, serves edits, and ends soon after a signal though the database hangs', async () => {
  appendFileSync(generatedFile(), '// mine');
  const dev = await start('npm run dev');
  expect(readFileSync(generatedFile(), 'utf8')).not.toContain('// mine');
  appendFileSync(join(project.directory, 'functions/create-plant/index.ts'), '\n');
  await expect.poll(dev.output, POLL).toContain('Rebuilt.');

  const put = `PutItem ${engine.plantsTable}`;
  database.plan({ call: put, fault: 'hangs', times: 9, applied: false });
  const response = create(dev, '{"id":73,"name":"hangs"}');
  await expect.poll(() => database.calls, POLL).toContain(put);
  dev.terminate();
  expect(await response).toBe('none');
  expect(await dev.exit).toBe(0);
});
