import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import fc from 'fast-check';
import { IdentityProvider } from '../../functions/shared/access-tokens/identity-provider.mts';
import { DEVELOPMENT_TOKEN } from '../../local/development-token.ts';
import { LOCAL_CREDENTIALS, openLocalDynamoDb } from '../../local/dynamodb.ts';
import { projectRoot, synthesize } from '../../local/synthesize.ts';
import { LOCAL_REGION, readTemplate } from '../../local/template.ts';
import { checked, command } from '../../operate/command.ts';
import { contract, inContract } from '../support/contract.ts';
import { type Issuer, newKey, signed, startIssuer } from '../support/issuer.ts';
import { startService } from '../support/service.ts';
import { forgedJwt, oddRequest, rawBytes, writtenPlant } from './inputs.ts';

/*
 * npm run test:fuzz -- [--minutes N] [--seed S]: throws inputs at the deployed bundle over real HTTP
 * until the time is over, and holds each answer against the contract and a model of the database.
 */

/** What a healthy database and a healthy service never answer, whatever they are sent. */
const FAULTS = [429, 500, 503, 504];

const usage = 'Usage: npm run test:fuzz -- [--minutes 1] [--seed N]';
const options = { minutes: { type: 'string', default: '1' }, seed: { type: 'string' } } as const;

await command({ usage, options }, async (values) => {
  const minutes = Number(checked('--minutes', values.minutes, /^(?=.*[1-9])\d+(\.\d+)?$/, 'a number above 0'));
  const seed = Number(checked('--seed', values.seed ?? String(Date.now() % 2 ** 31), /^\d+$/, 'a whole number'));
  const target = await startTarget();
  const issuer = await startIssuer();
  console.log(`Fuzzing for ${minutes} min; replay with: npm run test:fuzz -- --minutes ${minutes} --seed ${seed}`);
  const laws: [string, fc.IAsyncProperty<unknown>][] = [
    ['a plant is stored exactly, and a different one under its id refused', plantLaw(target)],
    ['an odd request is a 200 or an Error that is the caller’s', oddRequestLaw(target)],
    ['a JWT that its provider has not signed lets nobody in, and is no fault', jwtLaw(issuer)],
    ['raw bytes are answered in the contract’s shape, if at all', rawBytesLaw(target)],
  ];
  let failed = 0;
  for (const [law, property] of laws) {
    const details = await fc.check(property, {
      seed,
      numRuns: Number.MAX_SAFE_INTEGER,
      interruptAfterTimeLimit: (minutes * 60_000) / laws.length,
      endOnFailure: false,
    });
    console.log(`${details.failed ? 'FAILED' : 'held'} after ${details.numRuns} inputs: ${law}`);
    if (!details.failed) continue;
    failed += 1;
    console.error(fc.defaultReportMessage(details));
  }
  await target.close();
  await issuer.close();
  console.log(`${laws.length - failed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
});

/** The service on a database of its own. */
async function startTarget() {
  const engine = dynalite({ createTableMs: 0 });
  engine.listen(0, '127.0.0.1');
  await once(engine, 'listening');
  const endpoint = `http://127.0.0.1:${(engine.address() as AddressInfo).port}`;
  process.env['AWS_ENDPOINT_URL_DYNAMODB'] = endpoint;
  const template = readTemplate(await synthesize(join(projectRoot, 'cdk.out')));
  await (await openLocalDynamoDb(template)).close();
  const service = await startService(template, { endpoint });
  const client = new DynamoDBClient({ endpoint, region: LOCAL_REGION, credentials: LOCAL_CREDENTIALS });
  return {
    port: Number(new URL(service.url).port),
    async stored(id: bigint) {
      const TableName = template.outputs['PlantsTableName'];
      const { Item } = await client.send(new GetItemCommand({ TableName, Key: { id: { N: String(id) } } }));
      return Item && { name: Item['name']?.S, tag: Item['tag']?.S };
    },
    async close() {
      await service.close();
      client.destroy();
      engine.closeAllConnections();
      engine.close();
    },
  };
}

type Target = Awaited<ReturnType<typeof startTarget>>;

function plantLaw(target: Target): fc.IAsyncProperty<unknown> {
  return fc.asyncProperty(writtenPlant, async ({ body, plant }) => {
    const before = plant && (await target.stored(plant.id));
    const { answer } = await send(target, {
      method: 'POST',
      path: '/plants',
      authorization: `Bearer ${DEVELOPMENT_TOKEN}`,
      contentType: 'application/json',
      body: Buffer.from(body),
    });
    if (!plant) {
      assert.equal(answer['error'], 400);
      return;
    }
    const { id, name, tag } = plant;
    const bytes = Buffer.byteLength(name) + Buffer.byteLength(tag ?? '');
    if (bytes > 409_000 && answer['error'] === 413) return;
    if (before && (before.name !== name || before.tag !== tag)) {
      assert.equal(answer['error'], 409);
      assert.deepEqual(await target.stored(id), before);
      return;
    }
    assert.deepEqual(answer, { name, ...(tag !== undefined && { tag }) });
    assert.deepEqual(await target.stored(id), { name, tag });
  });
}

function oddRequestLaw(target: Target): fc.IAsyncProperty<unknown> {
  return fc.asyncProperty(oddRequest, async (request) => {
    const { answer } = await send(target, request);
    assert(!FAULTS.includes(Number(answer['error'])), JSON.stringify(answer));
  });
}

/** Of the identity provider's check alone: a thread's Lambda would not trust the certificate of the one here. */
function jwtLaw(issuer: Issuer): fc.IAsyncProperty<unknown> {
  const key = { ...newKey(), kid: 'key-1' };
  issuer.publish(key);
  const provider = new IdentityProvider({ issuer: issuer.url, audiences: ['plants'], scope: undefined });
  const valid = signed(key, { iss: issuer.url, aud: 'plants', sub: 'x', exp: 2 ** 33 });
  const decoded = (jwt: string) =>
    jwt
      .split('.')
      .map((part) => Buffer.from(part, 'base64url').toString('hex'))
      .join('.');
  const edited = fc
    .tuple(fc.nat({ max: valid.length }), fc.nat({ max: 5 }), fc.string({ unit: 'grapheme-ascii', maxLength: 5 }))
    .map(([at, gone, put]) => valid.slice(0, at) + put + valid.slice(at + gone))
    // The last letter of a part has bits that say nothing.
    .filter((jwt) => decoded(jwt) !== decoded(valid));
  return fc.asyncProperty(fc.oneof(forgedJwt, edited), async (jwt) => {
    assert('name' in (await provider.verify(valid)));
    assert('refused' in (await provider.verify(jwt)), jwt);
  });
}

function rawBytesLaw(target: Target): fc.IAsyncProperty<unknown> {
  return fc.asyncProperty(rawBytes, async (bytes) => {
    const socket = connect(target.port, '127.0.0.1');
    socket.setTimeout(1000, () => socket.destroy());
    socket.end(bytes);
    let text = '';
    socket.on('data', (chunk) => (text += chunk));
    // A reset is the gateway's right where the bytes are no request.
    socket.on('error', () => {});
    await once(socket, 'close');
    const heads = text.matchAll(/HTTP\/1\.1 (\d{3}) (?:.|\r\n(?!\r\n))*\r\n\r\n/g);
    for (const [head, status] of heads) {
      if (status === '100') continue;
      assert(status === '200' || status === '400', text);
      assert.match(head, /content-type: application\/json/i);
    }
    assert(!FAULTS.some((fault) => text.includes(`"error":${fault},`)), text);
  });
}

interface SentRequest {
  method: string;
  path: string;
  authorization: string;
  contentType: string;
  body: Buffer;
}

/** Sends a request and gives its answer, which must be in the contract's shape. */
async function send({ port }: Target, { method, path, authorization, contentType, body }: SentRequest) {
  const headers = { authorization, 'content-type': contentType, 'content-length': body.length };
  const request = httpRequest({ port, host: '127.0.0.1', method, path: path || '/', headers });
  request.end(body);
  const [response] = await once(request, 'response');
  const text = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>)).toString();
  if (method === 'HEAD') return { answer: {} };
  const { statusCode = 0, headers: answered } = response;
  const [resource = ''] = path.split('?');
  const route = contract.paths[resource]?.[method.toLowerCase()] && { httpMethod: method, resource };
  const answer: Record<string, unknown> = inContract({ statusCode, headers: answered, body: text }, route);
  return { answer };
}
