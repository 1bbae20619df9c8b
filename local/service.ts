import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { watch } from 'chokidar';
import {
  createTables,
  DEVELOPMENT_TOKEN,
  LOCAL_CREDENTIALS,
  openLocalDynamoDb,
  putDevelopmentToken,
  SERVICE_ASSEMBLY,
} from './dynamodb.ts';
import { createGateway } from './gateway.ts';
import { type Deployment, deploy } from './lambda.ts';
import { isRequestLine, type LogLine, terminalText } from './log.ts';
import { PAGE_PATH, serveReferencePage } from './reference-page.ts';
import { projectRoot, synthesize } from './synthesize.ts';
import { LOCAL_REGION, readTemplate } from './template.ts';

/** Time for requests in progress to end when the service closes. */
const GRACE_MS = 500;
/** Time to wait after a change, because an editor can change a file several times when it saves. */
const DEBOUNCE_MS = 50;

/**
 * Serves the synthesized stack on 127.0.0.1. Returns instructions for the terminal, and a function that closes it.
 *
 * @param port 0 for any free port
 * @param rebuildOnChange true to rebuild after each change to the contract, the stack or a function
 */
export async function startService(port: number, rebuildOnChange: boolean) {
  const dynamoDb = await openLocalDynamoDb({ isService: true });

  async function build(): Promise<Deployment> {
    if (rebuildOnChange) (await import('../contract/generate.ts')).writeGenerated();
    const template = readTemplate(await synthesize(SERVICE_ASSEMBLY));
    await createTables(dynamoDb, template);
    return await deploy(template, dynamoDb, printLine);
  }

  let deployment = await build();
  const { outputs } = deployment.template;
  await putDevelopmentToken(dynamoDb, deployment.template);

  const gateway = createGateway(() => deployment, console.log);
  const server = createServer((request, response) => {
    if (!serveReferencePage(request, response, DEVELOPMENT_TOKEN)) gateway(request, response);
  });
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(`Port ${port} is in use; set PORT to a free port, or to 0 for any free port.`);
  }

  if (rebuildOnChange) {
    await rebuildAfterChanges(async () => {
      const previous = deployment;
      deployment = await build();
      console.log('Rebuilt.');
      await previous.close();
    });
  }

  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const plantsUrl = `${baseUrl}/plants`;
  const instructions = `Read and try the API in a browser: ${baseUrl}${PAGE_PATH}

The plant store is ready at ${plantsUrl}

Create a plant:
  curl -i ${plantsUrl} -H 'Authorization: Bearer ${DEVELOPMENT_TOKEN}' -H 'Content-Type: application/json' -d '{"id":1,"name":"Monstera deliciosa","tag":"climber"}'

List what is stored (DynamoDB listens at ${dynamoDb.endpoint}):
  curl ${dynamoDb.endpoint} --aws-sigv4 aws:amz:${LOCAL_REGION}:dynamodb --user ${LOCAL_CREDENTIALS.accessKeyId}:${LOCAL_CREDENTIALS.secretAccessKey} -H 'X-Amz-Target: DynamoDB_20120810.Scan' -H 'Content-Type: application/x-amz-json-1.0' -d '{"TableName":"${outputs['PlantsTableName']}"}'
`;
  return {
    instructions,

    /** Stops listening, and waits for requests in progress. Then the process must exit, because the database and the functions stay open. */
    async close(): Promise<void> {
      server.close();
      await Promise.race([once(server, 'close'), sleep(GRACE_MS)]);
    },
  };
}

/** Prints a line of a function's log. Omits that of a request without failure: the gateway prints one for each response. */
function printLine(line: LogLine): void {
  if (line.level === 'INFO' && isRequestLine(line)) return;
  const print = ['WARN', 'ERROR'].includes(line.level) ? console.error : console.log;
  print(terminalText(line));
}

/** Calls `rebuild` after a change. One rebuild runs at a time. */
async function rebuildAfterChanges(rebuild: () => Promise<void>): Promise<void> {
  let lastRebuild = Promise.resolve();
  /** True while a rebuild waits to begin. It will include all changes made until then. */
  let isScheduled = false;

  async function rebuildSoon(): Promise<void> {
    await sleep(DEBOUNCE_MS);
    isScheduled = false;
    await rebuild().catch((error: Error) => console.error(error.message));
  }

  const watcher = watch(['functions', 'infra', 'openapi.yaml'], {
    cwd: projectRoot,
    ignoreInitial: true,
    // A rebuild writes these files.
    ignored: /\.generated\./,
  });
  watcher.on('all', () => {
    if (isScheduled) return;
    isScheduled = true;
    lastRebuild = lastRebuild.then(rebuildSoon);
  });
  await once(watcher, 'ready');
}
