import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/* What the policies of docs/ allow. Only AWS evaluates them, so each statement must be right by reading its row. */

type Statement = { Sid?: string; Effect: string; Action: string | string[]; Resource: string | string[] };

/** The resources of the policies in words, by their ARNs. */
const RESOURCES: Record<string, string> = {
  '*': 'everything',
  'arn:aws:cloudformation:*:ACCOUNT:stack/PlantStore-*': 'each stack',
  'arn:aws:dynamodb:*:ACCOUNT:table/PlantStore-*-AccessTokensTable*': 'the tokens of each stack',
  'arn:aws:dynamodb:*:ACCOUNT:table/PlantStore-*-PlantsTable*': 'the plants of each stack',
  'arn:aws:lambda:*:ACCOUNT:function:PlantStore-*': 'the function of each stack',
  'arn:aws:iam::ACCOUNT:role/cdk-hnb659fds-deploy-role-ACCOUNT-*': "the CDK's deploy role of each region",
  'arn:aws:iam::ACCOUNT:role/cdk-hnb659fds-file-publishing-role-ACCOUNT-*': "the CDK's publishing role of each region",
  'arn:aws:servicequotas:*:ACCOUNT:lambda/L-B99A9384': "Lambda's quota of concurrent executions",
  'arn:aws:iam::ACCOUNT:role/aws-service-role/servicequotas.amazonaws.com/*': "Service Quotas' own role",
  'arn:aws:cloudformation:REGION:ACCOUNT:stack/PlantStore-STAGE/*': 'the stack of the stage',
  'arn:aws:dynamodb:REGION:ACCOUNT:table/PlantStore-STAGE-AccessTokensTable*': 'the tokens of the stage',
  'arn:aws:iam::ACCOUNT:role/cdk-hnb659fds-deploy-role-ACCOUNT-REGION': "the CDK's deploy role of the region",
  'arn:aws:iam::ACCOUNT:role/cdk-hnb659fds-file-publishing-role-ACCOUNT-REGION':
    "the CDK's publishing role of the region",
};

const read = (file: string) => JSON.parse(readFileSync(`docs/${file}`, 'utf8'));

test.each([
  [
    'people-policy.json',
    [
      'Everybody: cloudformation:DescribeStacks on each stack',
      "Deploy: sts:AssumeRole, cloudformation:GetTemplate on the CDK's deploy role of each region, the CDK's publishing role of each region, each stack",
      'Tokens: dynamodb:Scan, dynamodb:PutItem, dynamodb:DeleteItem on the tokens of each stack',
      'ListAndErasePlants: dynamodb:Scan, dynamodb:DeleteItem on the plants of each stack',
      'StopRelease: codedeploy:StopDeployment on everything',
      "AnswerAlarms: cloudformation:ContinueUpdateRollback, lambda:DeleteFunctionConcurrency, lambda:PutFunctionConcurrency, lambda:UpdateAlias, servicequotas:RequestServiceQuotaIncrease, iam:CreateServiceLinkedRole on each stack, the function of each stack, Lambda's quota of concurrent executions, Service Quotas' own role",
    ],
  ],
  [
    'pipeline/policy.json',
    [
      "sts:AssumeRole on the CDK's deploy role of the region, the CDK's publishing role of the region",
      'cloudformation:DescribeStacks on the stack of the stage',
      'dynamodb:Scan, dynamodb:PutItem, dynamodb:DeleteItem on the tokens of the stage',
    ],
  ],
])('docs/%s allows exactly this', (file, expected) => {
  const { Version, Statement } = read(file);
  const allowed = Statement.map(({ Sid, Effect, Action, Resource, ...others }: Statement) => {
    expect([Effect, others]).toEqual(['Allow', {}]);
    const resources = [Resource].flat().map((arn) => RESOURCES[arn] ?? arn);
    return `${Sid === undefined ? '' : `${Sid}: `}${[Action].flat().join(', ')} on ${resources.join(', ')}`;
  });
  expect([Version, allowed]).toEqual(['2012-10-17', expected]);
});

test('only a job of the environment of its stage gets the role of the pipeline', () => {
  const host = 'token.actions.githubusercontent.com';
  const Principal = { Federated: `arn:aws:iam::ACCOUNT:oidc-provider/${host}` };
  const StringEquals = { [`${host}:aud`]: 'sts.amazonaws.com', [`${host}:sub`]: 'PREFIX:environment:STAGE' };
  const statement = {
    Effect: 'Allow',
    Principal,
    Action: 'sts:AssumeRoleWithWebIdentity',
    Condition: { StringEquals },
  };
  expect(read('pipeline/trust.json')).toEqual({ Version: '2012-10-17', Statement: [statement] });
});
