import { test } from 'vitest';
import { whyNoDynamoDbLocal } from './support/dynamodb-local.ts';

// Stands in the lane's place on a machine without Java, so that its report names what was left out.
const reason = whyNoDynamoDbLocal();
if (reason !== undefined && process.env['REQUIRE_DYNAMODB_LOCAL']) throw new Error(`DynamoDB Local: ${reason}.`);
const title = `the contract on AWS's DynamoDB Local is skipped: ${reason}`;
// The reporter leaves out the titles of skipped tests.
console.warn(title);
test.skip(title, () => {});
