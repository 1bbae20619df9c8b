import { readFileSync } from 'node:fs';
import 'aws-cdk-lib';
import 'cdk-nag';

/*
 * Node.js imports this before the CDK app: loads the libraries, which take a third of a synthesis, and waits for
 * the environment variables to run with, a JSON object on stdin.
 */

const variables = readFileSync(0, 'utf8');
// Whoever started the app is gone.
if (variables === '') process.exit();
Object.assign(process.env, JSON.parse(variables));
