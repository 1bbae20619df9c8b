import { existsSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import inspector from 'node:inspector';
import { command } from './command.ts';
import { DEVELOPMENT_TOKEN } from './local/development-token.ts';
import { createTables, isolateFromAws, openDynamoDb } from './local/dynamodb.ts';
import { createGateway } from './local/gateway.ts';
import { listen } from './local/listen.ts';
import { loadFunction } from './local/load-function.ts';
import { escapeConsole, withoutRequestLines } from './local/log.ts';
import { SAMPLE_EVENT } from './local/proxy-integration.ts';

const USAGE = `Usage: npm start [-- --inspect]

Serves the API on this machine until Ctrl-C. After a change of the function's code or of openapi.yaml, the next request
loads it again. What is stored is in .local/ and is used again. With --inspect, a debugger can attach to port 9229.

Environment variables, which the file .env can set too:
  PORT           the port; 3000 by default
  DYNAMODB_PORT  the port of the embedded DynamoDB; 8000 by default
  AWS_ENDPOINT_URL_DYNAMODB
                 another DynamoDB on this machine, in place of the embedded one
  ALLOW_ORIGINS  the web origins for CORS, separated by commas
  TOKEN_ISSUER, TOKEN_AUDIENCE, TOKEN_SCOPE
                 an identity provider

To try a client, send a header with its requests:
  Prefer: error=503      gets that error (or 429, 500, 504)
  Prefer: lost-response  is carried out, but the connection is closed; the repetition gets the response`;

await command({ usage: USAGE, options: { inspect: { type: 'boolean' } } }, async ({ inspect }) => {
  const ports = ['PORT', 'DYNAMODB_PORT'].filter((name) => process.env[name]);
  if (existsSync('.env')) process.loadEnvFile();
  // The port is opened before the data, so that a second npm start says that the port is in use.
  const gateway = Promise.withResolvers<RequestListener>();
  const { url } = await listen(async (...exchange) => (await gateway.promise)(...exchange), 'PORT');
  const { endpoint } = await openDynamoDb('.local/dynamodb');
  isolateFromAws(endpoint);
  await createTables(endpoint);
  if (inspect) inspector.open();
  gateway.resolve(createGateway(await loadFunction(), console.log));
  escapeConsole(withoutRequestLines);
  // An error after the response, for example because of a forgotten `await`, does not end the service.
  for (const event of ['unhandledRejection', 'uncaughtException']) process.on(event, (thrown) => console.error(thrown));
  console.log(instructions(url, endpoint, ports));
});
// After a failed start, open handles would keep the process running.
if (process.exitCode) process.exit();

function instructions(url: string, endpoint: string, ports: string[]): string {
  const plantsUrl = `${url}/plants`;
  const hint = `\nSo that the commands find this local run, put ${ports.join(' and ')} into the file .env.`;
  return `Read and try the API in a browser: ${url}/docs
The plant store is ready at ${plantsUrl}

Create a plant:
  curl -i ${plantsUrl} -H 'Authorization: Bearer ${DEVELOPMENT_TOKEN}' -H 'Content-Type: application/json' -d '${SAMPLE_EVENT.body}'

DynamoDB: ${endpoint}
List what is stored: npm run plants${ports.length > 0 ? hint : ''}
`;
}
