import { existsSync, readFileSync } from 'node:fs';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { command } from '../operate/command.ts';
import { deploy } from './deploy.ts';
import { openLocalDynamoDb } from './dynamodb.ts';
import { withOwnAssembly } from './synthesize.ts';
import { readTemplate, type Template } from './template.ts';

/*
 * npm run invoke -- events/NAME.json: one event through the function behind its route, the answer on
 * stdout, the function's log on stderr. Exit status 0 for a 200, 1 for the rest.
 */

const USAGE = `Usage: npm run invoke -- EVENT

EVENT is a file that holds an event of API Gateway, such as events/create-plant.json.`;

await command({ usage: USAGE, operands: ['EVENT'] }, async (_, [file]) => {
  const event = readEvent(String(file));
  await withOwnAssembly((assembly) => invoke(event, readTemplate(assembly)));
});

async function invoke(event: APIGatewayProxyEvent, template: Template): Promise<void> {
  await using opened = new AsyncDisposableStack();
  const dynamoDb = await openLocalDynamoDb(template);
  opened.defer(dynamoDb.close);
  const deployment = await deploy(template, dynamoDb, (line) => console.error(JSON.stringify(line)));
  opened.defer(deployment.close);
  const response = (await deployment.invoke(event)) as APIGatewayProxyResult | null;
  console.log(JSON.stringify(response, null, 2));
  if (response?.statusCode !== 200) process.exitCode = 1;
}

function readEvent(file: string): APIGatewayProxyEvent {
  if (!existsSync(file)) throw new Error(`The event ${file} does not exist.`);
  let event: unknown;
  try {
    event = JSON.parse(String(readFileSync(file)));
  } catch (error) {
    throw new Error(`The event ${file} must be a file of JSON: ${(error as Error).message}`);
  }
  if (typeof event !== 'object' || event === null || !('httpMethod' in event && 'resource' in event)) {
    throw new Error(`The event ${file} must be a REST proxy event, with httpMethod and resource.`);
  }
  return event as APIGatewayProxyEvent;
}
