import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { errors } from '../../functions/shared/errors.ts';
import { projectRoot } from '../../local/synthesize.ts';

export const contract = parse(readFileSync(join(projectRoot, 'openapi.yaml'), 'utf8'));

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(contract, 'contract');

function validatorOf(schema: string): ValidateFunction {
  return ajv.compile({ $ref: `contract#/components/schemas/${schema}` });
}
const isPlant = validatorOf('Plant');
const isError = validatorOf('Error');

export interface Answer {
  statusCode: number;
  headers: Record<string, unknown>;
  body: string;
}

/** The parsed body of an answer that is as the contract has it; fails the test for any other. */
export function inContract({ statusCode, headers, body }: Answer): Record<string, unknown> {
  expect(headers['content-type']).toBe('application/json');
  const parsed = JSON.parse(body);
  if (statusCode === 200) {
    expect(isPlant(parsed), body).toBe(true);
    expect(['name', 'tag'], body).toEqual(expect.arrayContaining(Object.keys(parsed)));
  } else {
    expect(statusCode).toBe(400);
    expect(isError(parsed), body).toBe(true);
    expect(Object.keys(errors)).toContain(String(parsed.error));
    expect(Object.keys(parsed).toSorted()).toEqual(['error', 'message']);
  }
  return parsed;
}
