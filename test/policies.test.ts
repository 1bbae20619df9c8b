import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/**
 * The calls of the tasks in docs/ and the nearest calls that no task needs, each with those who may make it. An action
 * without resource types ("Service Authorization Reference") needs `*`. The first five calls are those of the CDK CLI,
 * recorded with a fake AWS; `npx cdk deploy -vv` prints them. The CLI also works without the role for lookups, which
 * reads everything in the account.
 */
const TABLE_OF_CALLS = `
cloudformation:DescribeStacks STACK/PlantStore-production/* -> Everybody Pipeline
cloudformation:GetTemplate STACK/PlantStore-production/* -> Deploy
sts:AssumeRole ROLE/cdk-hnb659fds-deploy-role-ACCOUNT-REGION -> Deploy Pipeline StagingPipeline
sts:AssumeRole ROLE/cdk-hnb659fds-file-publishing-role-ACCOUNT-REGION -> Deploy Pipeline StagingPipeline
sts:AssumeRole ROLE/cdk-hnb659fds-lookup-role-ACCOUNT-REGION -> nobody
sts:AssumeRole,iam:PassRole ROLE/cdk-hnb659fds-cfn-exec-role-ACCOUNT-REGION -> nobody
sts:AssumeRole ROLE/cdk-hnb659fds-deploy-role-ACCOUNT-us-east-1 -> Deploy
sts:AssumeRole arn:aws:iam::444455556666:role/cdk-hnb659fds-deploy-role-444455556666-REGION -> nobody
cloudformation:DescribeStacks STACK/PlantStore-staging/* -> Everybody StagingPipeline
cloudformation:DescribeStacks arn:aws:cloudformation:us-east-1:ACCOUNT:stack/PlantStore-production/* -> Everybody
cloudformation:GetTemplate arn:aws:cloudformation:us-east-1:ACCOUNT:stack/PlantStore-production/* -> Deploy
cloudformation:DescribeStacks,GetTemplate arn:aws:cloudformation:REGION:444455556666:stack/PlantStore-production/* -> nobody
dynamodb:Scan,DeleteItem arn:aws:dynamodb:us-east-1:ACCOUNT:table/PlantStore-production-PlantsTable-1 -> ListAndErasePlants
dynamodb:Scan,DeleteItem arn:aws:dynamodb:REGION:444455556666:table/PlantStore-production-PlantsTable-1 -> nobody
dynamodb:Scan,PutItem arn:aws:dynamodb:REGION:444455556666:table/PlantStore-production-AccessTokensTable-1 -> nobody
cloudformation:ContinueUpdateRollback STACK/PlantStore-production/* -> AnswerAlarms
cloudformation:UpdateStack,DeleteStack STACK/PlantStore-production/* -> nobody
cloudformation:DescribeStacks,GetTemplate,ContinueUpdateRollback STACK/PlantShop/* -> nobody
dynamodb:Scan,PutItem,DeleteItem TOKENS -> Tokens Pipeline
dynamodb:Scan,PutItem,DeleteItem STAGING_TABLE -> Tokens StagingPipeline
dynamodb:Scan,PutItem,DeleteItem US_TABLE -> Tokens
dynamodb:Scan,DeleteItem PLANTS -> ListAndErasePlants
dynamodb:GetItem,PutItem,UpdateItem PLANTS -> nobody
dynamodb:UpdateContinuousBackups,UpdateTable,UpdateTimeToLive,DeleteTable PLANTS -> nobody
dynamodb:GetItem,UpdateItem,UpdateContinuousBackups,UpdateTable,UpdateTimeToLive,DeleteTable TOKENS -> nobody
dynamodb:Scan,DeleteItem TABLE/PlantShop-PlantsTable-1 -> nobody
dynamodb:Scan,PutItem,DeleteItem TABLE/PlantShop-AccessTokensTable-1 -> nobody
codedeploy:StopDeployment * -> StopRelease
lambda:PutFunctionConcurrency,DeleteFunctionConcurrency,UpdateAlias FUNCTION:PlantStore-production-1 -> AnswerAlarms
lambda:UpdateFunctionCode FUNCTION:PlantStore-production-1 -> nobody
lambda:PutFunctionConcurrency,DeleteFunctionConcurrency,UpdateAlias FUNCTION:PlantShop-1 -> nobody
servicequotas:RequestServiceQuotaIncrease arn:aws:servicequotas:REGION:ACCOUNT:lambda/L-B99A9384 -> AnswerAlarms
servicequotas:RequestServiceQuotaIncrease arn:aws:servicequotas:REGION:ACCOUNT:lambda/L-2ACBD22F -> nobody
iam:CreateServiceLinkedRole ROLE/aws-service-role/servicequotas.amazonaws.com/1 -> AnswerAlarms
iam:CreateServiceLinkedRole ROLE/aws-service-role/ecs.amazonaws.com/1 -> nobody
`;
/** The words in capitals, in the order of their replacement: the value of the first ones has some of the others. */
const WORDS = {
  PLANTS: 'TABLE/PlantStore-production-PlantsTable-1',
  TOKENS: 'TABLE/PlantStore-production-AccessTokensTable-1',
  STAGING_TABLE: 'TABLE/PlantStore-staging-AccessTokensTable-1',
  US_TABLE: 'arn:aws:dynamodb:us-east-1:ACCOUNT:table/PlantStore-production-AccessTokensTable-1',
  TABLE: 'arn:aws:dynamodb:REGION:ACCOUNT:table',
  STACK: 'arn:aws:cloudformation:REGION:ACCOUNT:stack',
  FUNCTION: 'arn:aws:lambda:REGION:ACCOUNT:function',
  ROLE: 'arn:aws:iam::ACCOUNT:role',
  ACCOUNT: '111122223333',
  REGION: 'eu-central-1',
  PREFIX: 'repo:owner/plants',
};
const fill = (text: string, words = {}): string =>
  Object.entries({ ...WORDS, ...words }).reduce((filled, [word, value]) => filled.replaceAll(word, value), text);

type Call = { line: string; action: string; arn: string; who: string[] };
const calls: Call[] = TABLE_OF_CALLS.trim()
  .split('\n')
  .flatMap((line) => {
    const [actions = '', resource = '', _, ...who] = line.split(' ');
    const [service] = actions.split(':');
    const named = actions.split(',').map((name) => (name.includes(':') ? name : `${service}:${name}`));
    return named.map((action) => ({ line: `${action} ${resource}`, action, arn: fill(resource), who }));
  });

type Values = string | string[];
type Statement = { Sid?: string; Effect: string; Action: Values; Resource: Values };

function statements(file: string, words = {}): Statement[] {
  const text = readFileSync(join(import.meta.dirname, '../docs', file), 'utf8');
  const { Version, Statement } = JSON.parse(fill(text, words));
  expect(Version, `the version of ${file}`).toBe('2012-10-17');
  return Statement;
}
/** A person has the statements whose Sid docs/deploying.md names for a task. */
const policies: Record<string, Statement[]> = {
  ...Object.fromEntries(statements('people-policy.json').map((statement) => [statement.Sid, [statement]])),
  Pipeline: statements('pipeline/policy.json', { STAGE: 'production' }),
  StagingPipeline: statements('pipeline/policy.json', { STAGE: 'staging' }),
};

/** As in IAM, a `*` in one of the first five parts of an ARN does not match a colon. */
function matches(patterns: Values, value: string): boolean {
  const anyOf = (part: string, i: number) => RegExp.escape(part).replaceAll('\\*', i < 5 ? '[^:]*' : '.*');
  const toRegExp = (pattern: string) => new RegExp(`^${pattern.split(':').map(anyOf).join(':')}$`);
  return [patterns].flat().some((pattern) => pattern === '*' || toRegExp(pattern).test(value));
}

/** Throws if the statement has a part that this test does not know, such as Deny, NotAction or a condition. */
function allows(statement: Statement, { action, arn }: Call): boolean {
  const { Sid: _, Effect, Action, Resource, ...others } = statement;
  if (Effect !== 'Allow' || Object.keys(others).length > 0 || /[?$]/.test(JSON.stringify(statement))) {
    throw new Error(`This test does not know a part of ${JSON.stringify(statement)}`);
  }
  return matches(Action, action) && matches(Resource, arn);
}
const isAllowed = (policy: Statement[], call: Call) => policy.some((statement) => allows(statement, call));

const allowedTo = (call: Call) => Object.keys(policies).filter((who) => isAllowed(policies[who] ?? [], call));
const lineWith = ({ line }: Call, who: string[]) => `${line} -> ${who.toSorted().join(' ') || 'nobody'}`;

test('each call is allowed to those in its line of the table, and to nobody else', () => {
  const lines = calls.map((call) => [lineWith(call, allowedTo(call)), lineWith(call, call.who)]);
  const wrong = lines.filter(([actual, expected]) => actual !== expected);
  expect(wrong.map(([actual]) => actual)).toEqual(wrong.map(([, expected]) => expected));
});

test('each action and resource of a policy is needed for a call in the table, and no action has a wildcard', () => {
  const wrong: string[] = [];
  for (const [who, policy] of Object.entries(policies))
    for (const statement of policy)
      for (const part of ['Action', 'Resource'] as const)
        for (const entry of [statement[part]].flat()) {
          const rest = { ...statement, [part]: [statement[part]].flat().filter((other) => other !== entry) };
          const without = policy.with(policy.indexOf(statement), rest);
          const isNeeded = calls.some((call) => isAllowed(policy, call) && !isAllowed(without, call));
          const isNamed = part === 'Resource' || !entry.includes('*');
          if (!isNeeded || !isNamed) wrong.push(`${who}: ${entry}`);
        }
  expect(wrong).toEqual([]);
});

test('only a job of its own environment of this repository gets the role of a stage', () => {
  const host = 'token.actions.githubusercontent.com';
  expect(statements('pipeline/trust.json', { STAGE: 'staging' })).toEqual([
    {
      Effect: 'Allow',
      Principal: { Federated: `arn:aws:iam::${WORDS.ACCOUNT}:oidc-provider/${host}` },
      Action: 'sts:AssumeRoleWithWebIdentity',
      Condition: {
        StringEquals: {
          [`${host}:aud`]: 'sts.amazonaws.com',
          [`${host}:sub`]: `${WORDS.PREFIX}:environment:staging`,
        },
      },
    },
  ]);
});
