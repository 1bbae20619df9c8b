import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { parse } from 'yaml';
import { errors } from '../../functions/shared/errors.ts';
import { projectRoot } from '../../local/synthesize.ts';

export const contract = parse(readFileSync(join(projectRoot, 'openapi.yaml'), 'utf8'));

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(contract, 'contract');
const validators = new Map<string, ValidateFunction>();

/** Whether a body is as an operation's answer with a status has it, without a member that is not in the schema. */
function isAnswer(status: number, { httpMethod, resource }: Route): ValidateFunction {
  const operation = [resource, httpMethod.toLowerCase()].map((part) => part.replaceAll('/', '~1')).join('/');
  const $ref = `contract#/paths/${operation}/responses/${status}/content/application~1json/schema`;
  const validate = validators.get($ref) ?? ajv.compile({ $ref, unevaluatedProperties: false });
  validators.set($ref, validate);
  return validate;
}

export interface Answer {
  statusCode: number;
  headers: Record<string, unknown>;
  body: string;
}

type Route = Pick<APIGatewayProxyEvent, 'httpMethod' | 'resource'>;
const CREATE_PLANT: Route = { httpMethod: 'POST', resource: '/plants' };

/** The parsed body of an answer that is as the contract has it for the route; throws for any other. */
export function inContract({ statusCode, headers, body }: Answer, route = CREATE_PLANT): Record<string, unknown> {
  assert.equal(headers['content-type'], 'application/json', body);
  const parsed: Record<string, unknown> = JSON.parse(body);
  assert(statusCode === 200 || statusCode === 400, `${statusCode} ${body}`);
  assert(isAnswer(statusCode, route)(parsed), body);
  if (statusCode === 400) assert(String(parsed['error']) in errors, body);
  return parsed;
}
