import { appendFileSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { inContract } from '../test/support/contract.ts';
import { type Engine, startEngine } from '../test/support/engine.ts';
import { startFaultProxy } from '../test/support/fault-proxy.ts';
import { copyProject, type LocalRun, type ProjectCopy } from '../test/support/project-copy.ts';
import { DEVELOPMENT_TOKEN } from './development-token.ts';

/* As a user starts it: npm passes signals on, in a way of its own. */

/** Ends a hang, on a slow machine too. */
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

async function create(url: string, body: string) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${DEVELOPMENT_TOKEN}`, 'content-type': 'application/json' },
    body,
  });
  return inContract({
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  });
}

/** A request whose plant the database is asked to put, and does not for so many times. */
async function inFlight({ url }: LocalRun, hangs: number): Promise<{ answer: Promise<unknown> }> {
  const put = `PutItem ${engine.plantsTable}`;
  database.plan({ call: put, fault: 'hangs', times: hangs, applied: false });
  const answer = create(url, '{"id":72,"name":"in flight"}').catch(() => 'none');
  await expect.poll(() => database.calls, POLL).toContain(put);
  return { answer };
}

test('a port that is none ends with a sentence', async () => {
  const { code, stderr } = await project.run('npm run --silent start', { PORT: '65536' });
  expect(code).toBe(1);
  expect(stderr).toContain('PORT was "65536"; it must be a number from 0 to 65535.\n');
});

test('where PORT names none it is 3000, and one in use ends with a sentence', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  const isOurs = () =>
    new Promise<boolean>((resolve) => {
      server.removeAllListeners('error').on('error', () => resolve(false));
      server.listen(3000, '127.0.0.1', () => resolve(true));
    });
  // Whoever has it all that time has it for the rest of this test, too.
  await expect
    .poll(isOurs, { timeout: 10_000, interval: 200 })
    .toBe(true)
    .catch(() => {});
  const variables = { PORT: '', AWS_ENDPOINT_URL_DYNAMODB: database.endpoint };
  const { code, stderr } = await project.run('npm run --silent start', variables);
  expect(code).toBe(1);
  expect(stderr).toContain('Port 3000 is in use; set PORT to a free one, or to 0 for any.\n');
});

test('npm start generates nothing, and Ctrl-C answers what is in flight, whatever else is connected', async () => {
  appendFileSync(generatedFile(), '// mine');
  const run = await start('npm start');
  expect(readFileSync(generatedFile(), 'utf8')).toContain('// mine');
  const head = 'POST /plants HTTP/1.1\r\nhost: x\r\n';
  const others = ['', head, `${head}content-length: 9\r\n\r\n{`].map((bytes) => {
    const socket = connect(Number(new URL(run.url).port), '127.0.0.1').on('error', () => {});
    socket.write(bytes);
    return socket;
  });
  await create(run.url, '{"id":71,"name":"so that the others have arrived"}');
  database.calls.length = 0;
  // The SDK's second attempt, a second later, is answered.
  const { answer } = await inFlight(run, 1);
  run.interrupt();
  expect(await answer).toEqual({ name: 'in flight' });
  expect(await run.exit).toBe(0);
  for (const socket of others) socket.destroy();
});

test('npm run dev generates and takes in edits, and a second signal ends it at once', async () => {
  appendFileSync(generatedFile(), '// mine');
  const dev = await start('npm run dev');
  expect(readFileSync(generatedFile(), 'utf8')).not.toContain('// mine');
  appendFileSync(join(project.directory, 'functions/create-plant/index.ts'), '\n');
  await expect.poll(dev.output, POLL).toContain('Rebuilt.');

  const { answer } = await inFlight(dev, 9);
  dev.terminate();
  expect(await Promise.race([dev.exit, sleep(500, 'still answers')])).toBe('still answers');
  dev.interrupt();
  // Waited for, it would be error 503, after some seconds.
  expect(await answer).toBe('none');
  expect(await dev.exit).not.toBe(0);
});
