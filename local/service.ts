import { once } from 'node:events';
import { mkdtempDisposableSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { watch } from 'chokidar';
import { type Deployment, deploy } from './deploy.ts';
import { DEVELOPMENT_TOKEN } from './development-token.ts';
import {
  createTables,
  LOCAL_CREDENTIALS,
  loopbackEndpoint,
  openServiceDynamoDb,
  putDevelopmentToken,
  SERVICE_ASSEMBLY,
} from './dynamodb.ts';
import { type AccessLine, createGateway } from './gateway.ts';
import { gracefulClose } from './graceful-close.ts';
import type { LogLine } from './lambda.ts';
import { PAGE_PATH, serveReferencePage } from './reference-page.ts';
import { synthesize, projectRoot } from './synthesize.ts';
import { LOCAL_REGION, readTemplate } from './template.ts';

/** An editor's save is several changes. */
const QUIET_MS = 50;

/** The synthesized stack, served on this machine. */
export interface LocalService {
  /** What its user may do now. */
  instructions: string;
  /** Answers what has arrived, and ends it. */
  close(): Promise<void>;
}

/**
 * Serves the synthesized stack at a port of this machine, 0 for any free one; if `watching`, also whatever becomes of
 * it by each change to the contract, to the stack or to a function. Throws a sentence where that cannot be.
 */
export async function startService(port: number, { watching = false } = {}): Promise<LocalService> {
  // Where two services run, each on a DynamoDB of its own, each has its own assembly too.
  const alone = loopbackEndpoint() === undefined;
  await using opened = new AsyncDisposableStack();
  const assembly = alone ? SERVICE_ASSEMBLY : opened.use(mkdtempDisposableSync(join(tmpdir(), 'plant-store-'))).path;
  const dynamoDb = await openServiceDynamoDb();
  opened.defer(dynamoDb.close);

  async function build(): Promise<Deployment> {
    if (watching) (await import('../scripts/generate.ts')).writeGenerated();
    await synthesize(assembly);
    const template = readTemplate(assembly);
    await createTables(dynamoDb, template);
    return deploy(template, dynamoDb, logLine);
  }

  let deployment = await build();
  opened.defer(() => deployment.close());
  const { template } = deployment;
  await putDevelopmentToken(dynamoDb, template);

  const server = createGateway(() => deployment, accessLine);
  serveReferencePage(server, DEVELOPMENT_TOKEN);
  opened.defer(gracefulClose(server));
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(`Port ${port} is in use; set PORT to a free one, or to 0 for any.`);
  }

  if (watching) {
    const stop = await onChange(async () => {
      const previous = deployment;
      deployment = await build();
      console.log('Rebuilt.');
      await previous.close();
    });
    opened.defer(stop);
  }
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const plantsUrl = `${baseUrl}/plants`;
  const instructions = `Read and try the API in a browser: ${baseUrl}${PAGE_PATH}

The plant store is ready at ${plantsUrl}

Create a plant:
  curl -i ${plantsUrl} -H 'Authorization: Bearer ${DEVELOPMENT_TOKEN}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera deliciosa","tag":"climber"}'

List what is stored (DynamoDB listens at ${dynamoDb.endpoint}):
  curl ${dynamoDb.endpoint} --aws-sigv4 aws:amz:${LOCAL_REGION}:dynamodb --user ${LOCAL_CREDENTIALS.accessKeyId}:${LOCAL_CREDENTIALS.secretAccessKey} -H 'X-Amz-Target: DynamoDB_20120810.Scan' -H 'Content-Type: application/x-amz-json-1.0' -d '{"TableName":"${template.outputs['PlantsTableName']}"}'
`;
  const running = opened.move();
  return { instructions, close: () => running.disposeAsync() };
}

function accessLine({ method, path, status, error, durationMs }: AccessLine): void {
  console.log([method, path, status, error ?? '-', `${durationMs.toFixed(1)} ms`].join('  '));
}

/** What the function says at INFO is in the access line already. */
function logLine(line: LogLine): void {
  if (line.level === 'ERROR' || line.level === 'WARN') console.error(JSON.stringify(line, null, 2));
}

/** Runs `rebuild` after a change, never twice at a time. Returns what ends it, once no rebuild is in progress. */
async function onChange(rebuild: () => Promise<void>): Promise<() => Promise<void>> {
  let last = Promise.resolve();
  /** Whether a rebuild is still to begin, which will take in whatever changes until then. */
  let due = false;

  async function rebuildSoon(): Promise<void> {
    await sleep(QUIET_MS);
    due = false;
    await rebuild();
  }

  const watcher = watch(['functions', 'infra', 'openapi.yaml'], {
    cwd: projectRoot,
    ignoreInitial: true,
    // A rebuild writes them itself.
    ignored: /\.generated\./,
  }).on('all', () => {
    if (due) return;
    due = true;
    last = last.then(rebuildSoon).catch((error: Error) => {
      if (!watcher.closed) console.error(error.message);
    });
  });
  await once(watcher, 'ready');
  return async () => {
    await watcher.close();
    await last;
  };
}
