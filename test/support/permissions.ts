import { expect } from 'vitest';
import type { GrantedOperation } from '../../infra/functions.ts';
import { functionOf, templateWith, textOf } from './stack.ts';

interface Resource {
  Type: string;
  Properties: {
    Role: { 'Fn::GetAtt': [role: string, attribute: string] };
    ManagedPolicyArns?: unknown[];
    Roles: { Ref: string }[];
    PolicyDocument: { Statement: { Action: string | string[]; Resource: unknown }[] };
  };
}

/** The ARNs of a role's managed policies, and its own permissions as ACTION RESOURCE: `dynamodb:PutItem PLANTS.Arn`. */
export function permissionsOf(resources: Record<string, Resource>, role: string): string[] {
  const { ManagedPolicyArns = [], ...others } = resources[role]?.Properties ?? {};
  expect(others).toEqual({ AssumeRolePolicyDocument: expect.anything() });
  const granted = Object.values(resources)
    .filter(({ Type, Properties }) => Type === 'AWS::IAM::Policy' && Properties.Roles.some(({ Ref }) => Ref === role))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .flatMap(({ Action, Resource, ...others }) => {
      expect(others).toEqual({ Effect: 'Allow' });
      return [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} ${textOf(resource)}`));
    });
  return [...ManagedPolicyArns.map(textOf), ...granted].toSorted();
}

/** The calls to DynamoDB that the role of an operation allows, each as ACTION TABLE. TABLE is a logical id. */
export function databaseCallsOf(operation: GrantedOperation): string[] {
  const template = templateWith({});
  const permissions = permissionsOf(template.toJSON()['Resources'], functionOf(template, operation).roleId);
  return permissions.flatMap((permission) => /^dynamodb:(.*)\.Arn$/.exec(permission)?.[1] ?? []);
}
