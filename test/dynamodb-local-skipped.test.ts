import { test } from 'vitest';
import { whyNoDynamoDbLocal } from './support/dynamodb-local.ts';

// Stands in the lane's place on a machine without Java, so that its report names what was left out.
const reason = whyNoDynamoDbLocal();
if (reason !== undefined && process.env['REQUIRE_DYNAMODB_LOCAL']) throw new Error(`DynamoDB Local: ${reason}.`);
test.skip(`the contract on AWS's DynamoDB Local is skipped: ${reason}`, () => {});
