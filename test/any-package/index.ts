import { LambdaClient } from '@aws-sdk/client-lambda';
import { parse } from 'yaml';

/* The code of an operation with an SDK client, and a package in CommonJS (infra/bundle/bundle.test.ts). */

export const client = new LambdaClient();
export const handler = async () => parse('a: 1');
