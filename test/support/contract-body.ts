import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ERROR_NUMBERS, type ErrorNumber } from '../../functions/shared/http/errors.ts';
import { parseContract } from '../../model/contract.ts';
import { readExamples } from '../../tools/generate/examples.ts';

/** openapi.yaml, and for each example its own contract. */
const contracts = [parseContract(), ...readExamples().map(({ contract }) => contract)];
const ajv = new Ajv2020({ strict: false, validateFormats: false });
for (const [index, contract] of contracts.entries()) ajv.addSchema(contract, `contract${index}`);
const validators = new Map<string, ValidateFunction>();

interface ApiResponse {
  statusCode: number;
  headers?: Record<string, unknown> | undefined;
  body: string;
}

type EventRoute = Pick<APIGatewayProxyEvent, 'httpMethod' | 'resource'>;
const CREATE_PLANT: EventRoute = { httpMethod: 'POST', resource: '/plants' };

/**
 * Returns the parsed body of a response. Throws if the contract does not allow the response for this route, or does not
 * define one of the body's members.
 */
export function contractBody({ statusCode, headers, body }: ApiResponse, route = CREATE_PLANT) {
  assert.equal(headers?.['content-type'], 'application/json', body);
  const parsed: Record<string, unknown> = JSON.parse(body);
  assert(statusCode === 200 || statusCode === 400, `${statusCode} ${body}`);
  const method = route.httpMethod.toLowerCase();
  const index = contracts.findIndex(({ paths }) => method in (paths[route.resource] ?? {}));
  const operation = `${route.resource.replaceAll('/', '~1')}/${method}`;
  const $ref = `contract${index}#/paths/${operation}/responses/${statusCode}/content/application~1json/schema`;
  const validate = validators.get($ref) ?? ajv.compile({ $ref, unevaluatedProperties: false });
  validators.set($ref, validate);
  assert(validate(parsed), body);
  if (statusCode === 400) assert(ERROR_NUMBERS.includes(parsed['error'] as ErrorNumber), body);
  return parsed;
}
