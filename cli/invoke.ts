import type { APIGatewayProxyResult } from 'aws-lambda';
import { createTables, openLocalDynamoDb, putDevelopmentToken } from '../local/dynamodb.ts';
import { filesBefore, readEvent } from '../local/event.ts';
import { deploy } from '../local/lambda.ts';
import { withOwnAssembly } from '../local/synthesize.ts';
import { readTemplate } from '../local/template.ts';
import { command } from './command.ts';

/*
 * npm run invoke -- events/NAME.json: invokes the function behind an event's route. Prints the response to stdout and the
 * function's log to stderr. The exit status is 0 for a 200 and 1 for any other response.
 */

const USAGE = `Usage: npm run invoke -- EVENT

EVENT is a JSON file with an event of API Gateway, such as events/create-plant.json. The event that before.json of its
folder names for it is invoked first.`;

await command({ usage: USAGE, operands: ['EVENT'] }, async (_, [file]) => {
  const events = [...filesBefore(String(file)), String(file)].map(readEvent);
  await withOwnAssembly(async (assembly) => {
    const template = readTemplate(assembly);
    await using opened = new AsyncDisposableStack();
    const dynamoDb = await openLocalDynamoDb();
    opened.defer(dynamoDb.close);
    await createTables(dynamoDb, template);
    await putDevelopmentToken(dynamoDb, template);
    const deployment = await deploy(template, dynamoDb, (line) => console.error(JSON.stringify(line)));
    opened.defer(deployment.close);
    let response: APIGatewayProxyResult | null = null;
    for (const event of events) response = (await deployment.invoke(event)) as APIGatewayProxyResult | null;
    console.log(JSON.stringify(response, null, 2));
    if (response?.statusCode !== 200) process.exitCode = 1;
  });
});
