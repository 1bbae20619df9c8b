import https from 'node:https';
import { text } from 'node:stream/consumers';

/* The least that a handler can do: the function's three requests, without signatures, checks or a log. */

const url = String(process.env['AWS_ENDPOINT_URL_DYNAMODB']);
const options = { method: 'POST', agent: new https.Agent({ keepAlive: true }) };

function send(input: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = https.request(url, options, (response) => resolve(text(response)));
    request.on('error', reject).end(JSON.stringify(input));
  });
}

await send({ Key: { digest: { S: 'none' } } });

export const handler = async (event: { body: string }) => {
  await send({ Key: { digest: { S: 'none' } } });
  const { id, ...plant } = JSON.parse(event.body);
  await send({ Item: { id: { N: String(id) }, name: { S: plant.name }, tag: { S: plant.tag } } });
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(plant) };
};
