import { Template } from 'aws-cdk-lib/assertions';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { expect, test } from 'vitest';
import { permissionsOf } from '../test/support/permissions.ts';
import { createPlant, functionOf, stackWith } from '../test/support/stack.ts';
import { grantedOperations } from './grants.ts';

const getPlant = { operationId: 'getPlant', method: 'GET', path: '/plants/{id}', folder: 'functions/get-plant' };

test('grants each operation its own actions and read access to the access tokens', () => {
  const grant = (grants: Parameters<typeof grantedOperations>[1]) => grantedOperations([getPlant], grants)[0]?.grants;
  expect(grant({ getPlant: { plants: ['GetItem'] } })).toEqual({ plants: ['GetItem'], accessTokens: ['GetItem'] });
  expect(grant({ getPlant: { accessTokens: ['PutItem'] } })).toEqual({ accessTokens: ['GetItem', 'PutItem'] });
});

test.each([
  [{}, 'GRANTS in infra/grants.ts does not have the operation getPlant of openapi.yaml. Add a line '],
  [{ getPlant: {}, getPlants: {} }, 'GRANTS in infra/grants.ts has the operation getPlants, which openapi.yaml '],
])('rejects the grants %j', (grants, message) => {
  expect(() => grantedOperations([getPlant], grants)).toThrow(message);
});

test('an operation can use other AWS services', () => {
  const [operation] = grantedOperations([createPlant], {
    createPlant: {
      addResources: (construct) => {
        const queue = new Queue(construct, 'Queue', { enforceSSL: true });
        queue.grantSendMessages(construct.role);
        construct.lambda.addEnvironment('QUEUE_URL', queue.queueUrl);
      },
    },
  });
  const template = Template.fromStack(stackWith({}, operation && [operation]));
  const { properties, roleId } = functionOf(template, createPlant);
  const queueId = properties.Environment.Variables.QUEUE_URL.Ref;
  template.hasResource('AWS::SQS::Queue', {});
  expect(permissionsOf(template.toJSON()['Resources'], roleId)).toContain(`sqs:SendMessage ${queueId}.Arn`);
});
