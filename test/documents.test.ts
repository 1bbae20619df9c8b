import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { gatewayResponses } from '../infra/api/gateway-responses.ts';
import { settingKeys } from '../infra/settings.ts';
import { projectRoot } from '../tools/local/synthesize.ts';
import { sharedAssembly } from './support/assembly.ts';

const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
const documents = globSync(['*.md', 'docs/*.md', '.github/*.yml', '.github/workflows/*.yml', '.ci/run'], {
  cwd: projectRoot,
});
const runbook = read('docs/operations.md');
const template = Template.fromJSON(
  JSON.parse(readFileSync(join(await sharedAssembly(), 'PlantStore.template.json'), 'utf8')),
);
const resources: Record<string, { Type: string }> = template.toJSON()['Resources'];

const captures = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, capture = '']) => capture);

/** The matches of a pattern's capture group in all documents. Fails if there are none. */
function inDocuments(pattern: RegExp): [document: string, capture: string][] {
  const found = documents.flatMap((document) =>
    captures(read(document), pattern).map((capture): [string, string] => [document, capture]),
  );
  expect(found).not.toEqual([]);
  return found;
}

/** The anchors that GitHub generates for a document's headings. */
const anchors = (markdown: string) =>
  captures(markdown.replaceAll(/```.*?```/gs, ''), /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test.each<[string, RegExp, string[]]>([
  ['npm script', /npm run (?:--silent\s+)?([\w:-]+)/g, Object.keys(JSON.parse(read('package.json')).scripts)],
  ['setting', /-c ([a-z]\w*)=/g, settingKeys],
  ['logical id', /"(\w+)":\{"TableName"/g, Object.keys(resources)],
])('each %s that a document names exists', (_, pattern, known) => {
  expect(inDocuments(pattern).filter(([, name]) => !known.includes(name))).toEqual([]);
});

test('each relative link leads to an existing file and heading', () => {
  const dead = inDocuments(/\]\((?!https?:)([^)\s]+)\)/g).filter(([document, link]) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? document : join(dirname(document), path);
    if (!existsSync(join(projectRoot, target))) return true;
    return anchor !== undefined && !anchors(read(target)).includes(anchor);
  });
  expect(dead).toEqual([]);
});

test('each project file that a document names exists', () => {
  const entries = readdirSync(projectRoot, { withFileTypes: true });
  // Commands create these two.
  const folders = entries.filter((entry) => entry.isDirectory() && !['cdk.out', '.local'].includes(entry.name));
  const named = inDocuments(/(?<![\w/.])((?:\.?[\w-]+\/)+[\w.-]*\w)/g);
  const missing = named.filter(([, path]) => {
    return folders.some(({ name }) => path.startsWith(`${name}/`)) && !existsSync(join(projectRoot, path));
  });
  expect(missing).toEqual([]);
});

test('the deployment policy allows each AWS service of the stack', () => {
  const [, policy = ''] = /```json\n(\{\s*"Version".*?)```/s.exec(read('docs/deploying.md')) ?? [];
  const actions: string[] = JSON.parse(policy).Statement.flatMap(({ Action }: { Action: string[] }) => Action);
  const allowed = actions.map((action) => action.split(':')[0]);
  const services = Object.values(resources).map(({ Type }) => Type.split('::')[1]?.toLowerCase());
  expect(allowed).toEqual(expect.arrayContaining([...new Set(services)]));
});

/** The IAM actions whose names do not follow from the AWS CLI command. */
const ACTION_EXCEPTIONS: Record<string, string> = {
  'acm wait certificate-validated': 'acm:DescribeCertificate',
  'apigateway get-account': 'apigateway:GET',
  'cloudformation wait stack-rollback-complete': 'cloudformation:DescribeStacks',
  'dynamodb wait table-exists': 'dynamodb:DescribeTable',
};

/** The IAM action of an AWS CLI command: `deploy stop-deployment` is `codedeploy:StopDeployment`. */
function actionOf(command: string): string {
  const [service = '', name = ''] = command.split(' ');
  const action = name.replaceAll(/(?:^|-)(\w)/g, (_match, letter: string) => letter.toUpperCase());
  return ACTION_EXCEPTIONS[command] ?? `${service === 'deploy' ? 'codedeploy' : service}:${action}`;
}

/** The administrator's actions: they create what the stack does not, and delete what it retains. */
const ADMINISTRATOR =
  /^(acm|iam|kms|s3|sns|wafv2):|^apigateway:(Create|Delete)|^(logs:DeleteLogGroup|cloudformation:DeleteStack)$/;

test('the table of permissions has the IAM action of each AWS CLI command in a document, except those of administrators', () => {
  const [, section = ''] = /^## Permissions\n(.*?)^#+ /ms.exec(read('docs/deploying.md')) ?? [];
  let service = '';
  // As in "`lambda:GetAlias`, `GetAccountSettings`": the service of an action also holds for those after it.
  const permitted = [...section.matchAll(/`(?:(\w+):)?([A-Z]\w+)`/g)].map(([, named, action]) => {
    service = named ?? service;
    return `${service}:${action}`;
  });
  const commands = inDocuments(/\baws ([a-z\d]+ (?:wait )?[a-z]+-[a-z-]+|s3 sync)/g);
  const runByPeople = commands.filter(([document]) => document.endsWith('.md'));
  const actions = runByPeople.map(([document, command]) => [document, actionOf(command)] as const);
  expect(actions.filter(([, action]) => !permitted.includes(action) && !ADMINISTRATOR.test(action))).toEqual([]);
});

test('the runbook has a section for each alarm with an action, and for no other', () => {
  const all = Object.entries(template.findResources('AWS::CloudWatch::Alarm'));
  const ids = all.filter(([, { Properties }]) => Properties.AlarmActions).map(([id]) => id);
  // All operations share a section: CreatePlantFunctionErrors is in FunctionErrors.
  const names = ids.map((id) => id.replace(/^MonitoringAlarms(?:\w+(?=Function))?(\w+?)[0-9A-F]{8}$/, '$1'));
  const section = runbook.slice(runbook.indexOf('\n## Alarms\n'), runbook.indexOf('\n### What alarms cannot see\n'));
  expect(captures(section, /^### (.+)$/gm).toSorted()).toEqual([...new Set(names)].toSorted());
});

test('the runbook lists the saved queries of the stack, and documents name no others', () => {
  const definitions = Object.values(template.findResources('AWS::Logs::QueryDefinition'));
  // Some names end with what to insert, in parentheses.
  const queries = definitions.map(({ Properties }) => Properties.Name.replace(/^PlantStore\/([^(]+?)( \(.*)?$/, '$1'));
  const list = /\*\*Saved queries\*\*.*?(?=\n- )/s.exec(runbook)?.[0].replaceAll(/\s+/g, ' ') ?? '';
  expect(captures(list, /"([^"]+)"/g).toSorted()).toEqual(queries.toSorted());
  const named = inDocuments(/(?<!--)query\s+"([^"]+)"/g);
  expect(named.filter(([, query]) => !queries.includes(query.replaceAll(/\s+/g, ' ')))).toEqual([]);
});

const constantIn = (path: string, name: string) =>
  Number(captures(read(path), new RegExp(`^const ${name} = ([\\d_]+);`, 'gm'))[0]?.replaceAll('_', ''));
const tokens = (file: string, name: string) => constantIn(`functions/shared/access-tokens/${file}.ts`, name);
const [group] = Object.values(template.findResources('AWS::CodeDeploy::DeploymentGroup'));
const [hook] = Object.values(template.findResources('AWS::Lambda::Function', { Properties: { Timeout: 120 } }));

test.each<[statement: RegExp, value: unknown]>([
  [/comes\s+within\s+(\d+)\s+s/g, constantIn('test/database-failures.test.ts', 'RESPONSE_WITHIN_MS') / 1000],
  [/(?:everywhere\s+within|tokens\s+for\s+up\s+to)\s+(\d+)\s+s/g, tokens('token-cache', 'CACHED_MS') / 1000],
  [/refresh\s+the\s+keys\s+after\s+(\d+)\s+min/g, tokens('provider-keys', 'REFRESH_AFTER_MS') / 60_000],
  [/the\s+old\s+keys\s+for\s+up\s+to\s+(\d+)\s+min/g, tokens('provider-keys', 'MAX_AGE_MS') / 60_000],
  [/After\s+(\d+)\s+attempts/g, constantIn('functions/shared/dynamodb/dynamodb.ts', 'MAX_ATTEMPTS')],
  [/valid\s+for\s+(\d+)\s+days\s+by\s+default/g, /default: '(\d+)d'/.exec(read('tools/token.ts'))?.[1]],
  [/new\s+version,\s+for\s+at\s+most\s+(\d+)\s+minutes/g, hook?.['Properties'].Timeout / 60],
  [/\*\*Canary:\*\* (\d+) %/g, /\d+(?=P)/.exec(group?.['Properties'].DeploymentConfigName)?.[0]],
])('documents say %s as the code does', (statement, value) => {
  expect(new Set(inDocuments(statement).map(([, number]) => number))).toEqual(new Set([String(value)]));
});

test.each([
  ['README.md', 'functions/create-plant/index.ts'],
  ['docs/changing.md', 'test/added-operations/project/functions/delete-plant/index.test.ts'],
])('%s has the code of %s', (document, file) => {
  const [code = ''] = captures(read(document), /```ts\n(.*?)```/gs);
  expect(read(file).replaceAll(/\s/g, '')).toContain(code.replaceAll(/\s/g, ''));
});

test('the README has figures of the documents that it links to', () => {
  const readme = read('README.md');
  const results = captures(read('docs/performance.md'), /\| (0\.\d\d) \|/g);
  expect(results).toEqual(expect.arrayContaining(captures(readme, /(0\.\d\d) times/g)));
  for (const dollars of captures(readme, /\$([\d.,]+\d)/g)) expect(read('docs/cost-and-scale.md')).toContain(dollars);
});

test('the web ACL sends the gateway’s response to a throttled request, and stores no sampled requests', () => {
  const { CustomResponseBodies, ...acl } = JSON.parse(read('docs/web-acl.json'));
  for (const { Action } of acl.Rules) {
    const { ResponseCode, CustomResponseBodyKey, ResponseHeaders } = Action.Block.CustomResponse;
    const { ContentType, Content } = CustomResponseBodies[CustomResponseBodyKey];
    expect({ ResponseCode, ContentType }).toEqual({ ResponseCode: 400, ContentType: 'APPLICATION_JSON' });
    expect(JSON.parse(Content)).toEqual(gatewayResponses['THROTTLED']);
    expect(ResponseHeaders).toContainEqual({ Name: 'Retry-After', Value: expect.stringMatching(/^\d+$/) });
  }
  // A sampled request would contain the client's token.
  for (const { VisibilityConfig } of [acl, ...acl.Rules]) expect(VisibilityConfig.SampledRequestsEnabled).toBe(false);
});
