import { realpathSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { APIGatewayProxyResult } from 'aws-lambda';
import { command } from './command.ts';
import { createTables, openLocalDynamoDb, putDevelopmentToken } from './local/dynamodb.ts';
import { readEvent } from './local/event.ts';
import { startServedFunctions } from './local/lambda.ts';
import { synthesize } from './local/synthesize.ts';
import { readTemplate } from './local/template.ts';

const USAGE = `Usage: npm run invoke -- EVENT

Invokes the function of an event's route, without a server. EVENT is a JSON file with an API Gateway event, such as
events/create-plant.json. The tables are empty. Prints the response to stdout and the function's log to stderr. The exit
status is 0 for a 200, and 1 otherwise.`;

await command({ usage: USAGE, args: ['EVENT'] }, async (_, [file]) => {
  const event = readEvent(String(file));
  // A folder of its own, because two runs in one folder would mix their files.
  await using assembly = await mkdtempDisposable(join(realpathSync(tmpdir()), 'plant-store-'));
  const template = readTemplate(await synthesize(assembly.path));
  await using cleanup = new AsyncDisposableStack();
  const dynamoDb = await openLocalDynamoDb();
  cleanup.defer(dynamoDb.close);
  await createTables(dynamoDb, template);
  await putDevelopmentToken(dynamoDb, template);
  const functions = await startServedFunctions(template, dynamoDb, ({ level, text }) =>
    console.error(`${level} ${text}`),
  );
  cleanup.defer(functions.close);
  const response = (await functions.invoke(event)) as APIGatewayProxyResult | null;
  console.log(JSON.stringify(response, null, 2));
  if (response?.statusCode !== 200) process.exitCode = 1;
});
