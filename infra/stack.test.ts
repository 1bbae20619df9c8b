import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { pascalCaseId } from '../model/contract.ts';
import {
  allOperations,
  functionOf,
  onlyOf,
  propertiesOf,
  stackWith,
  templateWith,
  textOf,
} from '../test/support/stack.ts';

interface Resource {
  Type: string;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
  Properties?: Record<string, unknown>;
}

const template = templateWith({});

const resourcesOf = (stack: Template): Record<string, Resource> => stack.toJSON()['Resources'];

test('outputs the base URL, the tables, the functions and the alarm topic', () => {
  const outputs = Object.entries(template.findOutputs('*')).map(([id, { Value }]) => [id, textOf(Value)]);
  const [api = ''] = Object.keys(propertiesOf(template, 'AWS::ApiGateway::RestApi'));
  expect(Object.fromEntries(outputs)).toEqual({
    ApiUrl: `https://${api}.execute-api.AWS::Region.AWS::URLSuffix/v1`,
    PlantsTableName: 'PlantsTable',
    AccessTokensTableName: 'AccessTokensTable',
    ...Object.fromEntries(
      allOperations.map((operation) => [`${pascalCaseId(operation)}FunctionName`, functionOf(template, operation).id]),
    ),
    AlarmTopicArn: Object.keys(propertiesOf(template, 'AWS::SNS::Topic'))[0],
  });
});

const tableWith = (AttributeName: string, AttributeType: 'N' | 'S', others = {}) => ({
  Type: 'AWS::DynamoDB::Table',
  DeletionPolicy: 'Retain',
  UpdateReplacePolicy: 'Retain',
  Properties: {
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [{ AttributeName, KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName, AttributeType }],
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    SSESpecification: { SSEEnabled: true },
    DeletionProtectionEnabled: true,
    ...others,
  },
});

// CloudFormation makes a new, empty table if a logical id, a name or a key schema changes. If one must change, add the
// new table beside the old one, copy the plants, and remove the old one in a later deployment.
test('no deployment replaces or loses a table, and each is encrypted and can be restored', () => {
  expect(template.findResources('AWS::DynamoDB::Table')).toEqual({
    PlantsTable: tableWith('id', 'N'),
    AccessTokensTable: tableWith('digest', 'S', {
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    }),
  });
});

/** DeletionPolicy and UpdateReplacePolicy of the resource types that the stack keeps. */
const KEPT: Record<string, string> = {
  // CloudFormation cannot delete protected tables: a failed creation would end in ROLLBACK_FAILED.
  'AWS::DynamoDB::Table': 'Retain, Retain',
  'AWS::KMS::Key': 'RetainExceptOnCreate, Retain',
  'AWS::Lambda::Version': 'RetainExceptOnCreate, Retain',
  'AWS::Logs::LogGroup': 'RetainExceptOnCreate, Retain',
};

test('deleting the stack keeps tables, logs, versions and the key; a failed creation keeps only the tables', () => {
  // Without the account's role for logs, which CDK keeps too.
  const resources = Object.values(resourcesOf(templateWith({ cloudWatchRole: false })));
  for (const { Type, DeletionPolicy = 'Delete', UpdateReplacePolicy = 'Delete' } of resources) {
    expect(`${DeletionPolicy}, ${UpdateReplacePolicy}`, Type).toBe(KEPT[Type] ?? 'Delete, Delete');
  }
});

test('no role may use an action on every resource', () => {
  const allowed: unknown[] = [];
  for (const { Type, Properties } of Object.values(resourcesOf(template))) {
    // In the policy of a key, "*" is the key.
    if (Type === 'AWS::KMS::Key') continue;
    JSON.stringify(Properties, (name, value) => {
      if (name === 'Resource') allowed.push(...[value].flat());
      return value;
    });
  }
  expect(allowed).not.toEqual([]);
  expect(allowed).not.toContain('*');
});

test('an ephemeral stack is deleted completely', () => {
  const ephemeral = templateWith({ ephemeral: true });
  ephemeral.allResourcesProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
  expect(JSON.stringify(ephemeral.toJSON())).not.toContain('Policy":"Retain');
});

test.each([
  [{}, 'PlantStore', true],
  [{ stage: 'dev' }, 'PlantStore-dev', false],
  [{ stage: 'dev', ephemeral: true }, 'PlantStore-dev', false],
  [{ ephemeral: true }, 'PlantStore', false],
])(
  'with %j the stack and its dashboard are named %s, with termination protection: %s',
  (context, name, isProtected) => {
    const stack = stackWith(context);
    expect(stack.stackName).toBe(name);
    expect(stack.terminationProtection).toBe(isProtected);
    // A dashboard name is unique in all regions of an account.
    const { DashboardName } = onlyOf(Template.fromStack(stack), 'AWS::CloudWatch::Dashboard');
    expect(textOf(DashboardName)).toBe(`${name}-AWS::Region`);
  },
);

test('sets no other resource names, so that two stages cannot use the same name', () => {
  for (const [id, { Properties }] of Object.entries(resourcesOf(template))) {
    for (const name of ['TableName', 'FunctionName', 'RoleName', 'LogGroupName', 'AlarmName', 'TopicName']) {
      expect(typeof Properties?.[name], `${name} of ${id}`).not.toBe('string');
    }
  }
});
