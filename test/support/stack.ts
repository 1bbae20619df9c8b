import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { Operation } from '../../functions/operations.ts';
import { readContext } from '../../infra/context.ts';
import { type GrantedOperation, grantedOperations } from '../../infra/operations.ts';
import { PlantStoreStack } from '../../infra/plant-store-stack.ts';

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

/** The API's methods, each with its resource's path: `/` of the root. */
export function methodsOf(template: Template) {
  const resources = template.findResources('AWS::ApiGateway::Resource');
  const pathOf = (id: string): string => {
    const { ParentId, PathPart } = resources[id]?.['Properties'] ?? {};
    return PathPart === undefined ? '' : `${pathOf(ParentId.Ref)}/${PathPart}`;
  };
  return Object.values(template.findResources('AWS::ApiGateway::Method')).map(({ Properties }) => ({
    method: Properties.HttpMethod,
    path: pathOf(Properties.ResourceId.Ref) || '/',
    integration: Properties.Integration,
    properties: Properties,
  }));
}

/** The name of an alarm that its logical id holds. */
export function alarmName(id: string): string {
  return id.replace(/^MonitoringAlarms(\w+?)[0-9A-F]{8}$/, '$1');
}
