import { readFileSync } from 'node:fs';
import 'aws-cdk-lib';
import 'cdk-nag';

/*
 * Node.js imports this before the CDK app: loads the libraries, which take a third of a synthesis, and waits for
 * the environment variables to run with, a JSON object on stdin.
 */

// Where whoever started the app is gone, that is an empty text, and the app ends.
Object.assign(process.env, JSON.parse(String(readFileSync(0))));
