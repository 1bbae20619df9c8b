import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { watch } from 'chokidar';
import { command } from './command.ts';
import { deploy } from './deploy.ts';
import { DEVELOPMENT_TOKEN } from './development-token.ts';
import { LOCAL_CREDENTIALS, loopbackEndpoint, openLocalDynamoDb } from './dynamodb.ts';
import { type AccessLine, createGateway } from './gateway.ts';
import type { LogLine } from './lambda.ts';
import { projectRoot, synthesize } from './synthesize.ts';
import { LOCAL_REGION, readTemplate } from './template.ts';

/*
 * npm start: serves the synthesized stack on this machine until Ctrl-C or SIGTERM.
 * npm run dev: the same, and again whenever a file of the stack or of a function changes.
 */

await command(async () => {
  const port = portFromEnvironment();
  // Refused before the seconds that synthesis takes.
  loopbackEndpoint();
  const template = readTemplate(await synthesize());
  const dynamoDb = await openLocalDynamoDb(template);
  let deployment = await deploy(template, dynamoDb, logLine).catch(async (error) => {
    await dynamoDb.close();
    throw error;
  });
  const server = createGateway(() => deployment, accessLine);

  async function close(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeIdleConnections();
    await closed;
    await deployment.close();
    await dynamoDb.close();
  }

  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    await deployment.close();
    await dynamoDb.close();
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(`Port ${port} is in use; set PORT to a free one, or to 0 for any.`);
  }

  if (process.argv.includes('--watch')) {
    await onChange(['functions', 'infra'], async () => {
      const next = await deploy(readTemplate(await synthesize()), dynamoDb, logLine);
      const previous = deployment;
      deployment = next;
      await previous.close();
      console.log('Rebuilt.');
    });
  }
  const plantsUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/plants`;
  console.log(`The plant store is ready at ${plantsUrl}

Create a plant:
  curl -i ${plantsUrl} -H 'Authorization: Bearer ${DEVELOPMENT_TOKEN}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera deliciosa","tag":"climber"}'

List what is stored (DynamoDB listens at ${dynamoDb.endpoint}):
  curl ${dynamoDb.endpoint} --aws-sigv4 aws:amz:${LOCAL_REGION}:dynamodb --user ${LOCAL_CREDENTIALS.accessKeyId}:${LOCAL_CREDENTIALS.secretAccessKey} -H 'X-Amz-Target: DynamoDB_20120810.Scan' -H 'Content-Type: application/x-amz-json-1.0' -d '{"TableName":"${template.outputs['PlantsTableName']}"}'
`);

  let closing = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // npm passes on what the terminal has sent already; the second signal must not cut the first short.
    process.on(signal, () => {
      if (!closing) void close().then(() => process.exit());
      closing = true;
    });
  }
});

function portFromEnvironment(): number {
  const value = process.env['PORT'] || '3000';
  if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535) {
    throw new Error(`PORT was "${value}"; it must be a number from 0 to 65535.`);
  }
  return Number(value);
}

function accessLine({ method, path, status, error, durationMs }: AccessLine): void {
  console.log([method, path, status, error ?? '-', `${durationMs.toFixed(1)} ms`].join('  '));
}

/** What the function says at INFO is in the access line already. */
function logLine(line: LogLine): void {
  if (line.level === 'ERROR' || line.level === 'WARN') console.error(JSON.stringify(line, null, 2));
}

/** Runs `rebuild` once things are quiet after a change, never twice at a time. */
async function onChange(paths: string[], rebuild: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const watcher = watch(paths, { cwd: projectRoot, ignoreInitial: true }).on('all', () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(rebuild).catch((error: Error) => console.error(error.message));
    }, 200);
  });
  await once(watcher, 'ready');
}
