import type { Template } from 'aws-cdk-lib/assertions';
import { expect } from 'vitest';
import { onlyOf, propertiesOf, templateWith, textOf } from './stack.ts';

/** The ARNs of a role's managed policies, and its own permissions as ACTION RESOURCE: `dynamodb:PutItem PLANTS.Arn`. */
export function permissionsOf(template: Template, role: string): string[] {
  const { ManagedPolicyArns = [], ...others } = propertiesOf(template, 'AWS::IAM::Role')[role];
  expect(others).toEqual({ AssumeRolePolicyDocument: expect.anything() });
  const policies = Object.values(propertiesOf(template, 'AWS::IAM::Policy'));
  const granted = policies
    .filter(({ Roles }) => Roles.some(({ Ref }: { Ref: string }) => Ref === role))
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .flatMap(({ Action, Resource, ...others }) => {
      expect(others).toEqual({ Effect: 'Allow' });
      return [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} ${textOf(resource)}`));
    });
  return [...ManagedPolicyArns.map(textOf), ...granted].toSorted();
}

/** The permissions of the function's role. */
export function functionPermissions(template = templateWith()): string[] {
  return permissionsOf(template, onlyOf(template, 'AWS::Lambda::Function').Role['Fn::GetAtt'][0]);
}
