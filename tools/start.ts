import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import inspector from 'node:inspector';
import { enableCompileCache } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { DEVELOPMENT_TOKEN } from './local/development-token.ts';
import { projectRoot } from './project-root.ts';
import { checkedNumber, command } from './shared/command.ts';

const USAGE = `Usage: npm start [-- --inspect]

Serves the operations of openapi.yaml on this machine until Ctrl-C. After each change to the contract or the code, it
loads them again. What is stored is in .local/ and is used again. With --inspect, a debugger can attach to port 9229.

Environment variables, which the file .env can set too:
  PORT           the port; 3000 by default, 0 for any free port
  DYNAMODB_PORT  the port of the embedded DynamoDB; any free port by default
  AWS_ENDPOINT_URL_DYNAMODB
                 another DynamoDB on this machine, in place of the embedded one
  ALLOW_ORIGINS  the web origins for CORS, separated by commas
  TOKEN_ISSUER, TOKEN_AUDIENCE, TOKEN_SCOPE
                 an identity provider`;

const OPTIONS = {
  inspect: { type: 'boolean', default: false },
} as const;

await command({ usage: USAGE, options: OPTIONS }, async ({ inspect }) => {
  // The cache works only for modules that are imported after this line.
  enableCompileCache(join(projectRoot, 'node_modules/.cache/node'));
  const { createTables, openDynamoDb } = await import('./local/dynamodb.ts');
  const { readEnvFile, useLocalEnvironment } = await import('./local/environment.ts');
  const { announceLocalRun, dataFolder, findLocalRun } = await import('./local/local-run.ts');
  const { serve } = await import('./local/serve.ts');
  readEnvFile();

  const other = await findLocalRun();
  if (other) throw new Error(`Another npm start of this folder is running: process ${other.pid}. End it.`);
  const port = await freePort('PORT', '3000');
  const dynamoDbPort = await freePort('DYNAMODB_PORT', '0');
  if (port === dynamoDbPort) throw new Error(`PORT and DYNAMODB_PORT are both ${port}; they must be different.`);
  const { endpoint } = await openDynamoDb(dataFolder, dynamoDbPort);
  const url = `http://127.0.0.1:${port}`;
  announceLocalRun(endpoint, url);

  useLocalEnvironment(endpoint);
  await createTables(endpoint);
  if (inspect) inspector.open();
  await serve(port, instructions(url, endpoint));
});
// After a failed start, open handles would keep the process running.
if (process.exitCode) process.exit();

/** Returns the port that an environment variable selects; any free port for 0. Throws if it is in use. */
async function freePort(variable: string, defaultPort: string): Promise<number> {
  const port = checkedNumber(variable, process.env[variable] || defaultPort, 0, 65_535);
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw thrown;
    throw new Error(`Port ${port} is in use; set ${variable} to a free port, or to 0 for any free port.`);
  } finally {
    server.close();
  }
}

function instructions(url: string, endpoint: string): string {
  const plantsUrl = `${url}/plants`;
  const { body } = JSON.parse(readFileSync(join(projectRoot, 'events/create-plant.json'), 'utf8'));
  return `Read and try the API in a browser: ${url}/docs

The plant store is ready at ${plantsUrl}

Create a plant:
  curl -i ${plantsUrl} -H 'Authorization: Bearer ${DEVELOPMENT_TOKEN}' -H 'Content-Type: application/json' -d '${body}'

DynamoDB: ${endpoint}
List what is stored: npm run plants
`;
}
