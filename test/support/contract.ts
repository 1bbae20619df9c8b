import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SchemaObject } from 'ajv';
import { parse } from 'yaml';

export const contractText = readFileSync(join(import.meta.dirname, '../../openapi.yaml'), 'utf8');

/** The contract. */
export const contract: SchemaObject = parse(contractText);
