import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SchemaObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { ERROR_NUMBERS, type ErrorNumber } from '../../functions/errors.ts';

export const contractText = readFileSync(join(import.meta.dirname, '../../openapi.yaml'), 'utf8');
export const contract: SchemaObject = parse(contractText);

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
  const was = `; the response was ${JSON.stringify({ statusCode, headers, body })}.`;
  assert(headers?.['content-type'] === 'application/json', `The content-type must be application/json${was}`);
  assert(statusCode === 200 || statusCode === 400, `The status must be 200 or 400${was}`);
  const parsed: Record<string, unknown> = JSON.parse(body);
  assert(validators[statusCode](parsed), `The body must have exactly the members of the contract${was}`);
  const isKnown = statusCode === 200 || ERROR_NUMBERS.includes(parsed['error'] as ErrorNumber);
  assert(isKnown, `The error must be in functions/errors.ts${was}`);
  return parsed;
}
