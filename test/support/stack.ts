import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { expect } from 'vitest';
import type { Operation } from '../../functions/operations.ts';
import { type GrantedOperation, grantedOperations } from '../../infra/operations.ts';
import { readContext } from '../../infra/settings.ts';
import { PlantStoreStack } from '../../infra/stack.ts';
import { textOf } from './intrinsics.ts';

export const WEB_ACL_ARN =
  'arn:aws:wafv2:us-east-1:123456789012:regional/webacl/per-address/2d9c1c3e-6e5b-4b5f-9a53-0c1f1f6f3c11';

/** The stack with such context keys and operations, without the seconds that bundling takes. */
export function stackWith(context: Record<string, unknown>, operations?: GrantedOperation[]): PlantStoreStack {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [], ...context } });
  return new PlantStoreStack(app, readContext(app), operations);
}

const templates = new Map<string, Template>();

/** The stack's template, synthesized once for all tests of a process. */
export function templateWith(context: Record<string, unknown>, operations?: GrantedOperation[]): Template {
  const key = JSON.stringify([context, operations]);
  const template = templates.get(key) ?? Template.fromStack(stackWith(context, operations));
  templates.set(key, template);
  return template;
}

/** The stack as it is without any context key. */
export function defaultTemplate(): Template {
  return templateWith({});
}

/** Contexts that have between them all that the stack can have. */
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

/** One more operation, two folders deep, with createPlant's sources: infra looks only at where they stand. */
export const waterPlant: GrantedOperation = {
  operationId: 'waterPlant',
  method: 'PUT',
  path: '/plants/{id}/water',
  folder: 'create-plant',
  grants: { plants: ['GetItem', 'UpdateItem'], accessTokens: ['GetItem'] },
};

/** The contract's operations and one more. */
export const withWaterPlant = () => [...grantedOperations(), waterPlant];

/** The function of an operation. */
export function functionOf(template: Template, { method, path }: Operation) {
  const functions = template.findResources('AWS::Lambda::Function', {
    Properties: { Description: `${method} ${path}` },
  });
  const [id, resource] = Object.entries(functions)[0] ?? [];
  if (id === undefined || !resource) throw new Error(`The template has no function for ${method} ${path}.`);
  return { id, properties: resource['Properties'], logGroup: resource['Properties'].LoggingConfig.LogGroup.Ref };
}

/** What a deployment of an operation goes by, from its alias on. The alarms are those that take it back. */
export function releaseOf(template: Template, operation: Operation) {
  const { id } = functionOf(template, operation);
  const aliases = template.findResources('AWS::Lambda::Alias', { Properties: { FunctionName: { Ref: id } } });
  const [[aliasId, alias] = [], ...others] = Object.entries(aliases);
  if (!alias || others.length > 0) throw new Error(`The function of ${operation.operationId} has not one alias.`);
  const update = alias['UpdatePolicy'].CodeDeployLambdaAliasUpdate;
  const group = template.findResources('AWS::CodeDeploy::DeploymentGroup')[update.DeploymentGroupName.Ref];
  const hookId: string = update.BeforeAllowTrafficHook.Ref;
  return {
    aliasId,
    alias,
    /** The logical id of the version that the alias is moved to. */
    versionId: alias['Properties'].FunctionVersion['Fn::GetAtt'][0] as string,
    group: group?.['Properties'],
    hookId,
    hook: template.findResources('AWS::Lambda::Function')[hookId]?.['Properties'],
    alarmIds: group?.['Properties'].AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => Name.Ref),
  };
}

/** All that a role's own policies let it do, as `ACTION RESOURCE`, sorted. */
export function permissionsOf(template: Template, roleId: string): string[] {
  const policies = Object.values(template.findResources('AWS::IAM::Policy')).filter(({ Properties }) =>
    Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === roleId),
  );
  return policies
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .flatMap(({ Effect, Action, Resource, ...conditions }) => {
      expect({ Effect, ...conditions }).toEqual({ Effect: 'Allow' });
      return [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} ${textOf(resource)}`));
    })
    .toSorted();
}

/** The OpenAPI document that defines the API. */
export function apiDefinitionOf(template: Template) {
  const [api] = Object.values(template.findResources('AWS::ApiGateway::RestApi'));
  return api?.['Properties'].Body;
}

/** The API's methods: `ANY` is any other method of its path. */
export function methodsOf(template: Template) {
  const paths: Record<string, ReturnType<typeof apiDefinitionOf>> = apiDefinitionOf(template).paths;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method === 'x-amazon-apigateway-any-method' ? 'ANY' : method.toUpperCase(),
      path,
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

/** The gateway responses, each with the `error` of its body. */
export function gatewayResponsesOf(template: Template) {
  const responses: Record<string, GatewayResponse> = apiDefinitionOf(template)['x-amazon-apigateway-gateway-responses'];
  return Object.entries(responses).map(([type, response]) => ({
    type,
    ...response,
    error: JSON.parse(response.responseTemplates['application/json']).error as number,
  }));
}

/** The name of an alarm that its logical id holds; that of one that takes a release back begins with `Release`. */
export function alarmName(id: string): string {
  return id.replace(/^(?:MonitoringAlarms)?(\w+?)[0-9A-F]{8}(?:[0-9a-f]{32})?$/, '$1');
}
