import { LambdaClient } from '@aws-sdk/client-lambda';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, test } from 'vitest';
import { releaseEndpoints, VERSION_ARN } from '../../test/support/release-endpoints.ts';
import { startStandIn } from '../../test/support/stand-in-service.ts';
import { contractRules, type SmokeOperation } from './contract-rules.ts';
import { createPlantRules } from './create-plant-rules.ts';
import { functionCaller } from './function-caller.ts';
import operations from './operations.generated.json' with { type: 'json' };
import { rules, rulesOfFunction } from './rules.ts';

const named = (all: { rule: string }[]) => all.map(({ rule }) => rule);

test.each(operations)(
  'the function of $operationId is asked by the rules of that operation alone',
  ({ operationId, method, path }) => {
    const { operation, rules: own } = rulesOfFunction(operationId);
    expect(operation).toMatchObject({ operationId, method, path });
    const ofContract = named(contractRules([operation]));
    const others = named(own).filter((rule) => !ofContract.includes(rule));
    if (operationId !== 'createPlant') expect(others).toEqual([]);
    expect(named(createPlantRules)).toEqual(expect.arrayContaining(others));
    expect(named(own)).toContain(
      `${method} ${path} without Authorization header is error 401, its challenge a Bearer realm with no error`,
    );
  },
);

test('each rule is the gateway’s to keep, or that of one function, which is asked', () => {
  const byGateway = rules.filter((rule) => rule.byGateway);
  const byFunction = operations.flatMap(({ operationId }) => rulesOfFunction(operationId).rules);
  expect(named([...byGateway, ...byFunction]).toSorted()).toEqual(named(rules).toSorted());
});

test('of what a plant is created by, the gateway keeps the request ids and the largest bodies', () => {
  expect(named(createPlantRules.filter(({ byGateway }) => byGateway))).toEqual([
    'each answer to a plant has a request id of its own (x-amz-apigw-id), which no caller chooses',
    'a body of 7 MB is error 413',
  ]);
});

test('an operation of no contract has no rules', () => {
  expect(() => rulesOfFunction('none')).toThrow('none is no operation of the contract.');
});

const TWO_OPERATIONS: SmokeOperation[] = [
  { operationId: 'createPlant', method: 'POST', path: '/plants', needsJson: true },
  { operationId: 'getPlant', method: 'GET', path: '/plants/{id}', needsJson: false },
];

const TOKEN = 'the-token';

function refusal(error: number, headers = {}) {
  const all = { 'Content-Type': 'application/json', ...headers };
  return { statusCode: 400, headers: all, body: JSON.stringify({ error, message: 'x' }) };
}

/** A function takes all that it is given for a request of its own operation. */
function functionOf({ needsJson }: SmokeOperation, { headers, body }: APIGatewayProxyEvent) {
  const { Authorization: authorization = '', 'Content-Type': contentType } = headers;
  if (authorization !== `Bearer ${TOKEN}`) {
    const error = authorization.startsWith('Bearer ') ? ', error="invalid_token"' : '';
    return refusal(401, { 'WWW-Authenticate': `Bearer realm="x"${error}` });
  }
  if (needsJson) return refusal(contentType === 'application/json' || !body ? 400 : 415);
  return { statusCode: 200, headers: { 'Content-Type': 'application/json' }, body: '{"name":"x"}' };
}

test.each(TWO_OPERATIONS)(
  'of any contract, the function of $operationId alone keeps just what is not marked as the gateway’s',
  async (operation) => {
    const { answerTo } = releaseEndpoints(VERSION_ARN, (event) => functionOf(operation, event));
    const client = new LambdaClient({
      endpoint: await startStandIn(answerTo),
      region: 'us-east-1',
      credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
    });
    const caller = functionCaller(client, VERSION_ARN, operation.path, TOKEN);
    const all = contractRules([operation]);
    const broken: string[] = [];
    for (const { rule, check } of all) await check(caller).catch(() => broken.push(rule));
    expect(broken).toEqual(named(all.filter(({ byGateway }) => byGateway)));
    expect(broken).not.toEqual([]);
  },
);
