import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect } from 'vitest';
import type { Operation } from '../../contract/operations.ts';
import { type GrantedOperation, grantedOperations } from '../../infra/operations.ts';
import { readSettings, stackName } from '../../infra/settings.ts';
import { PlantStoreStack } from '../../infra/stack.ts';
import type { TableName } from '../../infra/tables.ts';

export const WEB_ACL_ARN =
  'arn:aws:wafv2:us-east-1:123456789012:regional/webacl/per-address/2d9c1c3e-6e5b-4b5f-9a53-0c1f1f6f3c11';

/** The logical ids of the tables. */
export const TABLES: Record<TableName, string> = {
  plants: 'DataPlants8CBE6BEF',
  accessTokens: 'DataAccessTokens854BD336',
};

/** An operation with a path parameter. It has createPlant's sources, because infra only bundles them. */
export const waterPlant: GrantedOperation = {
  operationId: 'waterPlant',
  method: 'PUT',
  path: '/plants/{id}/water',
  folder: 'create-plant',
  grants: { plants: ['GetItem', 'UpdateItem'], accessTokens: ['GetItem'] },
};

/** The contract's operations and one more. */
export const twoOperations = [...grantedOperations(), waterPlant];

/** The actions of these operations on the tables, table by table, each once. */
export const tableActions = (Object.keys(TABLES) as TableName[]).flatMap((name) => {
  const actions = new Set(twoOperations.flatMap(({ grants }) => grants[name] ?? []));
  return [...actions].map((action) => ({ name, table: TABLES[name], action }));
});

/** Context keys that together make all resources that the stack can have. */
export const CONTEXTS: [when: string, context: Record<string, unknown>][] = [
  ['by default', {}],
  [
    'with every context key set',
    {
      stage: 'full',
      throwaway: true,
      alarmEmail: 'ops@example.com',
      domainName: 'plants.example.com',
      hostedZoneId: 'Z0123456789ABC',
      allowOrigins: 'https://a.example',
      tokenIssuer: 'https://id.example.com',
      tokenAudience: 'plants',
      webAclArn: WEB_ACL_ARN,
      cloudWatchRole: true,
    },
  ],
  ['for an emulator', { emulator: true }],
];

/** The stack with these context keys and operations, without the seconds that bundling takes. */
export function stackWith(context: Record<string, unknown>, operations = grantedOperations()): PlantStoreStack {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [], ...context } });
  const settings = readSettings(app);
  return new PlantStoreStack(app, stackName(settings), { ...settings, operations });
}

const templates = new Map<string, Template>();

/** The stack's template, synthesized once for all tests of a process. */
export function templateWith(context: Record<string, unknown>, operations = twoOperations): Template {
  const key = JSON.stringify([context, operations]);
  const template = templates.get(key) ?? Template.fromStack(stackWith(context, operations));
  templates.set(key, template);
  return template;
}

/** The properties of all resources of a type, by their logical ids. */
export function propertiesOf(template: Template, type: string) {
  const resources = Object.entries(template.findResources(type));
  return Object.fromEntries(resources.map(([id, { Properties }]) => [id, Properties]));
}

/** The properties of the only resource of a type. */
export function onlyOf(template: Template, type: string) {
  const [properties, ...others] = Object.values(propertiesOf(template, type));
  if (!properties || others.length > 0) throw new Error(`The stack must have one ${type}.`);
  return properties;
}

/** The function of an operation. */
export function functionOf(template: Template, { method, path }: Operation) {
  const functions = Object.entries(propertiesOf(template, 'AWS::Lambda::Function'));
  const [id, properties] = functions.find(([, { Description }]) => Description === `${method} ${path}`) ?? [];
  if (id === undefined) throw new Error(`The template has no function for ${method} ${path}.`);
  return {
    id,
    properties,
    roleId: properties.Role['Fn::GetAtt'][0] as string,
    logGroup: properties.LoggingConfig.LogGroup.Ref as string,
  };
}

/** The resources that deploy an operation's function. The alarms are those that roll a release back. */
export function releaseOf(template: Template, operation: Operation) {
  const { id } = functionOf(template, operation);
  const aliases = template.findResources('AWS::Lambda::Alias', { Properties: { FunctionName: { Ref: id } } });
  const [[aliasId = '', alias] = [], ...others] = Object.entries(aliases);
  if (!alias || others.length > 0) throw new Error(`The function of ${operation.operationId} must have one alias.`);
  const update = alias['UpdatePolicy'].CodeDeployLambdaAliasUpdate;
  const group = propertiesOf(template, 'AWS::CodeDeploy::DeploymentGroup')[update.DeploymentGroupName.Ref];
  const hookId: string = update.BeforeAllowTrafficHook.Ref;
  return {
    aliasId,
    alias,
    /** The logical id of the version that the alias is moved to. */
    versionId: alias['Properties'].FunctionVersion['Fn::GetAtt'][0] as string,
    group,
    groupId: update.DeploymentGroupName.Ref as string,
    hookId,
    hook: propertiesOf(template, 'AWS::Lambda::Function')[hookId],
    alarmIds: group.AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => Name.Ref) as string[],
  };
}

/** The permissions of a role's own policies, as `ACTION RESOURCE`, sorted. */
export function permissionsOf(template: Template, roleId: string): string[] {
  const policies = Object.values(propertiesOf(template, 'AWS::IAM::Policy')).filter(({ Roles }) =>
    Roles.some(({ Ref }: { Ref: string }) => Ref === roleId),
  );
  return policies
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .flatMap(({ Effect, Action, Resource, ...conditions }) => {
      expect({ Effect, ...conditions }).toEqual({ Effect: 'Allow' });
      return [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} ${textOf(resource)}`));
    })
    .toSorted();
}

/** A value of a template as text: `ID` for a Ref, `ID.ATTRIBUTE` for a Fn::GetAtt, the parts of a Fn::Join together. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = value as Record<string, never>;
  if (Ref !== undefined) return Ref;
  if (attribute) return (attribute as string[]).join('.');
  if (join) return (join[1] as unknown[]).map(textOf).join(join[0]);
  throw new Error(`${JSON.stringify(value)} has a function that textOf does not know.`);
}

/** The OpenAPI document that defines the API. */
export function apiDefinitionOf(template: Template) {
  return onlyOf(template, 'AWS::ApiGateway::RestApi').Body;
}

/** The API's methods: `ANY` is any other method of its path. */
export function methodsOf(template: Template) {
  const paths: Record<string, ReturnType<typeof apiDefinitionOf>> = apiDefinitionOf(template).paths;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method === 'x-amazon-apigateway-any-method' ? 'ANY' : method.toUpperCase(),
      path,
      parameters: methods[method].parameters as { name: string }[],
      integration: methods[method]['x-amazon-apigateway-integration'],
      responses: methods[method].responses,
    })),
  );
}

interface GatewayResponse {
  statusCode: string;
  responseParameters: Record<string, string>;
  responseTemplates: { 'application/json': string };
}

/** The gateway responses, by their types. */
export function gatewayResponsesOf(template: Template): Record<string, GatewayResponse> {
  return apiDefinitionOf(template)['x-amazon-apigateway-gateway-responses'];
}
