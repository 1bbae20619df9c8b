import type { RequestListener } from 'node:http';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ListTablesCommand,
  PutItemCommand,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { tokenItem } from '../../functions/tokens/token.ts';
import { ISSUER } from '../../infra/shared-with-local-run/issuer.ts';
import {
  ACCESS_TOKENS_KEY,
  ACCESS_TOKENS_TABLE,
  PLANTS_KEY,
  PLANTS_TABLE,
} from '../../infra/shared-with-local-run/table-keys.ts';
import { requireMatch } from '../command.ts';
import { DEVELOPMENT_TOKEN } from './development-token.ts';
import { forbid, listen, portOf } from './listen.ts';

/** Nothing validates the region and the credentials of requests to a DynamoDB of this machine. */
const REGION = 'us-east-1';
const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

/**
 * Opens the DynamoDB of this machine at AWS_ENDPOINT_URL_DYNAMODB, or else the embedded one at DYNAMODB_PORT.
 *
 * @param folder of the embedded DynamoDB's data. Default: it keeps its data in memory, and uses any free port
 */
export async function openDynamoDb(folder?: string) {
  const configured = configuredEndpoint();
  if (configured) return { endpoint: configured, close: () => {} };
  // Imported here, because most commands do not need dynalite, and its code takes a while to load.
  const { createDynalite } = await import('./dynalite.ts');
  const dynalite = createDynalite(folder);
  const guarded: RequestListener = (request, response) => {
    // dynalite allows all origins, so any web page could read and delete the data.
    const { origin } = request.headers;
    if (origin === undefined) dynalite(request, response);
    else forbid(response, `The Origin was "${origin}"; web pages must not use this port.`);
  };
  const { url, server } = await listen(guarded, folder === undefined ? undefined : 'DYNAMODB_PORT');
  if (folder !== undefined) await checkData(url, folder);
  return { endpoint: url, close: () => server.close().closeAllConnections() };
}

/** Returns AWS_ENDPOINT_URL_DYNAMODB, if set. It must be local: the public development token is stored there. */
function configuredEndpoint(): string | undefined {
  const value = process.env['AWS_ENDPOINT_URL_DYNAMODB'];
  const expected = 'an http or https URL of this machine (127.0.0.1, localhost or [::1])';
  const pattern = /^https?:\/\/(127\.[\d.]+|localhost|\[::1\])(:\d+)?\/?$/i;
  return value ? requireMatch('AWS_ENDPOINT_URL_DYNAMODB', value, pattern, expected) : undefined;
}

/** Throws if dynalite cannot open its data. It reports this outside of any request, and responds to none. */
async function checkData(endpoint: string, folder: string): Promise<void> {
  const { promise: uncaught, reject } = Promise.withResolvers<never>();
  process.on('uncaughtException', reject);
  await Promise.race([localClient(endpoint).send(new ListTablesCommand()), uncaught]).catch((thrown) => {
    const advice = 'End the process that uses it, such as another npm start, or delete this folder.';
    throw new Error(`The data in ${folder} cannot be opened. ${advice}`, { cause: thrown });
  });
  process.off('uncaughtException', reject);
}

/**
 * Returns the endpoint of the running local run's DynamoDB. Prints it to stderr, because another clone's local run can
 * be there. Returns undefined if nothing there has its tables.
 */
export async function findLocalRun(): Promise<string | undefined> {
  const endpoint = configuredEndpoint() ?? `http://127.0.0.1:${portOf('DYNAMODB_PORT')}`;
  // Another program at this port may never respond.
  const options = { abortSignal: AbortSignal.timeout(5000) };
  const table = localClient(endpoint).send(new DescribeTableCommand({ TableName: PLANTS_TABLE }), options);
  if (!(await table.catch(() => undefined))) return undefined;
  console.error(`Uses the local run at ${endpoint}.`);
  return endpoint;
}

/** Returns a client for a DynamoDB of this machine. If nothing listens there, it fails at once. */
export function localClient(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({ endpoint, region: REGION, credentials: CREDENTIALS, maxAttempts: 1 });
}

/** Creates the tables that do not exist yet, and stores the development token, valid for a year from now. */
export async function createTables(endpoint: string): Promise<void> {
  const client = localClient(endpoint);
  async function createTable(TableName: string, { name, type }: typeof PLANTS_KEY | typeof ACCESS_TOKENS_KEY) {
    const AttributeDefinitions = [{ AttributeName: name, AttributeType: type }];
    const KeySchema = [{ AttributeName: name, KeyType: 'HASH' as const }];
    const create = { TableName, AttributeDefinitions, KeySchema, BillingMode: 'PAY_PER_REQUEST' as const };
    await client.send(new CreateTableCommand(create)).catch((thrown) => {
      if (!(thrown instanceof ResourceInUseException)) throw thrown;
    });
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 0.02, maxDelay: 1 }, { TableName });
  }
  try {
    await createTable(PLANTS_TABLE, PLANTS_KEY);
    await createTable(ACCESS_TOKENS_TABLE, ACCESS_TOKENS_KEY);
    const now = Math.floor(Date.now() / 1000);
    const Item = tokenItem(DEVELOPMENT_TOKEN, 'development', now, now + 365 * 24 * 60 * 60);
    await client.send(new PutItemCommand({ TableName: ACCESS_TOKENS_TABLE, Item }));
  } catch (thrown) {
    throw new Error(`The DynamoDB at ${endpoint} cannot be used: ${(thrown as Error).message}`);
  } finally {
    client.destroy();
  }
}

/** Returns the environment variables that the stack and Lambda set, and those that keep the AWS SDK on this machine. */
export function localVariables(endpoint: string): Record<string, string> {
  return {
    PLANTS_TABLE_NAME: PLANTS_TABLE,
    ACCESS_TOKENS_TABLE_NAME: ACCESS_TOKENS_TABLE,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    // Empty files, so that the SDK reads no profile of the person.
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    TZ: ':UTC',
  };
}

/** Replaces all AWS variables of this process, so that nothing of the person's AWS account reaches the function. */
export function isolateFromAws(endpoint: string): void {
  const { TOKEN_ISSUER: issuer = '', TOKEN_AUDIENCE: audiences = '', TOKEN_SCOPE: scope } = process.env;
  if (issuer || audiences || scope) {
    // The function would say that the stack must set them.
    requireMatch('TOKEN_ISSUER', issuer, ISSUER, 'an https URL without ? and #, to set TOKEN_AUDIENCE or TOKEN_SCOPE');
    requireMatch('TOKEN_AUDIENCE', audiences, /^[^\s,]+(,[^\s,]+)*$/, 'the audiences of the JWTs, separated by commas');
  }
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  Object.assign(process.env, localVariables(endpoint));
}
