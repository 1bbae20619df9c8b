import { readFileSync } from 'node:fs';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { deploy } from '../local/deploy.ts';
import { createTables, openLocalDynamoDb, putDevelopmentToken } from '../local/dynamodb.ts';
import { withOwnAssembly } from '../local/synthesize.ts';
import { readTemplate } from '../local/template.ts';
import { command } from './command.ts';

/*
 * npm run invoke -- events/NAME.json: invokes the function behind an event's route. Prints the response to stdout and the
 * function's log to stderr. The exit status is 0 for a 200 and 1 for any other response.
 */

const USAGE = `Usage: npm run invoke -- EVENT

EVENT is a JSON file with an event of API Gateway, such as events/create-plant.json.`;

await command({ usage: USAGE, operands: ['EVENT'] }, async (_, [file]) => {
  const event = readEvent(String(file));
  await withOwnAssembly(async (assembly) => {
    const template = readTemplate(assembly);
    await using opened = new AsyncDisposableStack();
    const dynamoDb = await openLocalDynamoDb();
    opened.defer(dynamoDb.close);
    await createTables(dynamoDb, template);
    await putDevelopmentToken(dynamoDb, template);
    const deployment = await deploy(template, dynamoDb, (line) => console.error(JSON.stringify(line)));
    opened.defer(deployment.close);
    const response = (await deployment.invoke(event)) as APIGatewayProxyResult | null;
    console.log(JSON.stringify(response, null, 2));
    if (response?.statusCode !== 200) process.exitCode = 1;
  });
});

function readEvent(file: string): APIGatewayProxyEvent {
  let event: APIGatewayProxyEvent | null;
  try {
    event = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`The event ${file} cannot be read: ${(error as Error).message}`);
  }
  if (event?.httpMethod && event.resource) return event;
  throw new Error(`The event ${file} must be a REST proxy event, with httpMethod and resource.`);
}
