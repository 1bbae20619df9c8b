import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { attachDebugger, debuggerTargets } from '../support/debugger.ts';
import { startFailureProxy } from '../support/dynamodb-proxy.ts';
import { startEngine } from '../support/engine.ts';
import { copyProject } from '../support/project-copy.ts';
import { post } from '../support/service.ts';

/* Runs npm run dev, and other commands with another DynamoDB of this machine, as a user does, in a copy of the project. */

/** Long enough for a slow machine. */
const POLL = { timeout: 120_000, interval: 20 };

const GENERATED = 'functions/create-plant/contract.generated.d.ts';
const FUNCTION = 'functions/create-plant/index.ts';
const OPERATION = 'functions/create-plant/create-plant.ts';
/** A line of the operation's code. */
const LINE = /^ +const joinedValues = .*\n/m;

const engine = closedAtEnd(await startEngine());
const database = closedAtEnd(await startFailureProxy(engine.endpoint));

const project = closedAtEnd(copyProject());
const variables = { AWS_ENDPOINT_URL_DYNAMODB: database.endpoint };

const path = (file: string) => join(project.directory, file);

/** Changes a file of the project until the test ends. Returns a function that undoes the change earlier. */
function edit(file: string, change: (source: string) => string): () => void {
  const source = readFileSync(path(file), 'utf8');
  const undo = () => writeFileSync(path(file), source);
  onTestFinished(undo);
  writeFileSync(path(file), change(source));
  return undo;
}

test('npm run invoke uses the DynamoDB at AWS_ENDPOINT_URL_DYNAMODB', async () => {
  const { code } = await project.run('npm run --silent invoke -- events/create-plant.json', variables);
  expect(code).toBe(0);
  expect(await engine.items(engine.plantsTable)).toHaveLength(1);
});

test('npm run invoke prints what the function logs, and stacks with lines of the TypeScript files', async () => {
  edit(OPERATION, (source) =>
    source.replace(LINE, "$&    console.log('here', plant.name, () => 1);\n    throw new TypeError('inside');\n"),
  );
  const { code, stderr } = await project.run('npm run --silent invoke -- events/create-plant.json', variables);
  const line = readFileSync(path(OPERATION), 'utf8').split('throw new TypeError')[0]?.split('\n').length;
  expect(code).toBe(1);
  expect(stderr).toContain('INFO here Monstera deliciosa [Function (anonymous)]\n');
  expect(stderr).toMatch(/^ERROR \{\n {2}operation: 'createPlant',$/m);
  expect(stderr).toMatch(new RegExp(`TypeError: inside\\n +at .*\\(${OPERATION}:${line}:\\d+\\)\\n`));
});

test('listens on port 3000 by default, and fails if it is in use', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  // If another program already uses the port, the test works too.
  await new Promise<void>((resolve) => {
    server.on('error', () => resolve()).listen(3000, '127.0.0.1', resolve);
  });
  const { code, stderr } = await project.run('npm run --silent start', { ...variables, PORT: '' });
  expect(code).toBe(1);
  expect(stderr).toContain('Port 3000 is in use; set PORT to a free port, or to 0 for any free port.\n');
});

test('npm start generates nothing, and after Ctrl-C finishes requests without waiting for idle connections', async () => {
  appendFileSync(path(GENERATED), '// mine');
  const run = await project.start('npm start', variables);
  expect(readFileSync(path(GENERATED), 'utf8')).toContain('// mine');
  const head = 'POST /plants HTTP/1.1\r\nhost: x\r\n';
  for (const bytes of ['', head, `${head}content-length: 9\r\n\r\n{`]) {
    const socket = connect(Number(new URL(run.url).port), '127.0.0.1').on('error', () => {});
    socket.write(bytes);
  }
  await post(run.url, '{"id":71,"name":"warm up"}');
  const before = database.calls.length;
  const response = post(run.url, '{"id":72,"name":"in progress"}');
  await expect.poll(() => database.calls.length, POLL).toBeGreaterThan(before);
  run.interrupt();
  expect(await response).toEqual({ name: 'in progress' });
  expect(await run.exit).toBe(0);
});

test('npm run dev generates files, serves edits, and ends after a signal even if the database hangs', async () => {
  appendFileSync(path(GENERATED), '// mine');
  const dev = await project.start('npm run dev', variables);
  expect(readFileSync(path(GENERATED), 'utf8')).not.toContain('// mine');
  // A change of a generated file does not start a rebuild.
  appendFileSync(path(GENERATED), '// mine');
  await sleep(500);
  expect(readFileSync(path(GENERATED), 'utf8')).toContain('// mine');

  // If a rebuild fails, it prints why, and the previous build still responds.
  const undoFinding = edit('infra/functions.ts', (source) => source.replace('AwsSolutions-IAM5', 'none'));
  await expect.poll(dev.output, POLL).toMatch(/The stack could not be synthesized.*AwsSolutions-IAM5/s);
  expect(await post(dev.url, '{"id":80,"name":"x"}')).toEqual({ name: 'x' });
  undoFinding();
  const undoSyntax = edit(FUNCTION, (source) => `${source}const x = ;\n`);
  await expect.poll(dev.output, POLL).toMatch(/ERROR\] Unexpected ";"\s+functions\/create-plant\/index\.ts:\d+:10:/);
  expect(dev.output()).not.toContain('--bundle');
  undoSyntax();
  const undoThrow = edit(FUNCTION, (source) => `${source}throw new TypeError('at load');\n`);
  await expect
    .poll(dev.output, POLL)
    .toMatch(
      /^TypeError: at load\n +at .*\(functions\/create-plant\/index\.ts:\d+:7\)(.*\n)+\nStill serving the last good version\.$/m,
    );
  expect(await post(dev.url, '{"id":80,"name":"x"}')).toEqual({ name: 'x' });
  undoThrow();
  const undoContract = edit('openapi.yaml', () => 'openapi: [');
  await expect.poll(dev.output, POLL).toContain('Cannot generate code from openapi.yaml: ');
  expect(await post(dev.url, '{"id":80,"name":"x"}')).toEqual({ name: 'x' });
  const page = await fetch(new URL('/docs/', dev.url));
  expect(page.status).toBe(500);
  expect(await page.text()).toContain('The reference page cannot be generated from openapi.yaml: ');
  undoContract();

  edit('openapi.yaml', (source) => source.replace(/name:\n\s+type: string/, '$&\n          maxLength: 3'));
  edit(FUNCTION, (source) =>
    ['info', 'warn', 'error'].reduce(
      (text, level) => `${text}\nconsole.${level}('at', '${level}');`,
      `${source}\nexport const wrong: number = 'x';`,
    ),
  );
  await expect.poll(() => post(dev.url, '{"id":81,"name":"too long"}'), POLL).toMatchObject({ error: 400 });
  await expect.poll(dev.output, POLL).toMatch(/^Rebuilt in \d+\.\d s\.$/m);
  for (const text of ['Rebuilding…', 'INFO at info', 'WARN at warn', 'ERROR at error']) {
    await expect.poll(dev.output, POLL).toContain(`${text}\n`);
  }
  // Type errors do not prevent a build.
  await expect.poll(dev.output, POLL).toMatch(/^functions\/create-plant\/index\.ts\(\d+,14\): error TS2322: /m);
  expect(dev.output()).not.toContain('outcome');

  const put = `PutItem ${engine.plantsTable}`;
  onTestFinished(() => database.plan());
  database.plan({ call: put, failure: 'hangs', times: 9, applied: false });
  const calls = database.calls.length;
  const response = post(dev.url, '{"id":73,"name":"x"}').catch(() => 'none');
  await expect.poll(() => database.calls.slice(calls), POLL).toContain(put);
  dev.terminate();
  expect(await response).toBe('none');
  expect(await dev.exit).toBe(0);
});

test('npm run dev waits until code that cannot be built is repaired', async () => {
  const undo = edit(FUNCTION, (source) => `${source}const x = ;\n`);
  const dev = await project.start('npm run dev', variables, /\n\nWaiting for a change\.\n/);
  expect(dev.output()).toContain('Unexpected ";"');
  undo();
  await expect.poll(dev.output, POLL).toMatch(/Rebuilt in .*ready at/s);
  dev.terminate();
  expect(await dev.exit).toBe(0);
});

test('with --inspect, a debugger pauses a function at a TypeScript line without a timeout, also after a rebuild', async () => {
  edit('infra/functions.ts', (source) => source.replace('Duration.seconds(10)', 'Duration.seconds(1)'));
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = String((server.address() as AddressInfo).port);
  await new Promise((resolve) => server.close(resolve));
  const line = (readFileSync(path(OPERATION), 'utf8').split(LINE)[0] ?? '').split('\n').length;

  const dev = await project.start('npm run dev -- --inspect', {
    ...variables,
    NODE_OPTIONS: `--inspect-port=${port}`,
  });
  const first = await attachDebugger(port);
  const targets = await debuggerTargets(port);
  await first.setBreakpoint(OPERATION, line);
  const response = post(dev.url, '{"id":90,"name":"first"}');
  expect(await first.evaluate('plant.name')).toBe('first');

  // A rebuild ends the paused request.
  edit(OPERATION, (source) => source.replace('pick(plant, plantMemberNames)', "{ name: 'edited' }"));
  expect(await response).toMatchObject({ error: 500 });
  await expect.poll(dev.output, POLL).toMatch(/Rebuilt in/);
  expect(await post(dev.url, '{"id":91,"name":"second"}')).toEqual({ name: 'edited' });
  await expect.poll(() => readdirSync(path('.local/builds')).length, POLL).toBe(1);

  await expect.poll(() => debuggerTargets(port), POLL).not.toEqual(expect.arrayContaining(targets));
  const second = await attachDebugger(port);
  await second.setBreakpoint(OPERATION, line);
  const paused = post(dev.url, '{"id":92,"name":"third"}');
  expect(await second.evaluate('plant.name')).toBe('third');
  // After the debugger has left, the function continues.
  second.detach();
  expect(await paused).toEqual({ name: 'edited' });
  dev.terminate();
  expect(await dev.exit).toBe(0);
  expect(await debuggerTargets(port)).toEqual([]);
});
