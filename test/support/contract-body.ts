import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ERROR_NUMBERS, type ErrorNumber } from '../../functions/errors.ts';
import { contract } from './contract.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(contract, 'contract');
const validatorOf = (status: 200 | 400) => {
  const $ref = `contract#/paths/~1plants/post/responses/${status}/content/application~1json/schema`;
  return ajv.compile({ $ref, unevaluatedProperties: false });
};
const validators = { 200: validatorOf(200), 400: validatorOf(400) };

/** Returns true for a plant that the contract allows, with no other members. */
export const isPlant = (value: unknown): boolean => validators[200](value);

interface ApiResponse {
  statusCode: number;
  headers?: Record<string, unknown> | undefined;
  body: string;
}

/**
 * Returns the parsed body of a response. Throws if the contract does not allow the response, or does not define one of
 * the body's members.
 */
export function contractBody({ statusCode, headers, body }: ApiResponse) {
  assert.equal(headers?.['content-type'], 'application/json', body);
  const parsed: Record<string, unknown> = JSON.parse(body);
  assert(statusCode === 200 || statusCode === 400, `${statusCode} ${body}`);
  assert(validators[statusCode](parsed), body);
  if (statusCode === 400) assert(ERROR_NUMBERS.includes(parsed['error'] as ErrorNumber), body);
  return parsed;
}
