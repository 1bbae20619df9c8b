import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, type CfnResource } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { type CompleteSettings, PRODUCTION, type Settings, withDefaults } from '../../infra/settings.ts';
import { PlantStoreStack } from '../../infra/stack.ts';

/** A stage in which every setting has a value. */
export const EVERYTHING: Required<Settings> = {
  account: '123456789012',
  alarms: { email: 'ops@example.com', runbookUrl: 'https://example.com/operations.md' },
  allowOrigins: ['https://a.example'],
  cloudWatchRole: true,
  domain: { name: 'plants.example.com', hostedZoneId: 'Z0123456789ABC' },
  ephemeral: false,
  identityProvider: { issuer: 'https://id.example.com', audiences: ['plants', 'gardens'], scope: 'write' },
  region: 'eu-west-1',
  requestsPerSecond: 500,
  webAcl: true,
};

/** The feature flags of cdk.json, with which the CDK CLI deploys. */
export const { context }: { context: Record<string, unknown> } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8'),
);

/** The stack of production with these settings. Skips bundling, which takes seconds. */
export function stackWith(settings: Partial<CompleteSettings> = {}, bundled: string[] = []): PlantStoreStack {
  const app = new App({ context: { ...context, 'aws:cdk:bundling-stacks': bundled } });
  const { stage = PRODUCTION, withoutCanary, ...ofStage } = settings;
  return new PlantStoreStack(app, withDefaults(stage, ofStage, withoutCanary));
}

const templates = new Map<string, Template>();

/** The stack's template, synthesized once for all tests of a file. */
export function templateWith(settings: Partial<CompleteSettings> = {}): Template {
  const key = JSON.stringify(settings);
  const template = templates.get(key) ?? Template.fromStack(stackWith(settings));
  templates.set(key, template);
  return template;
}

/** The template of production after a property of the resource at this path has changed. */
export function withChange(path: string, property: string, value: string): Template {
  const stack = stackWith();
  const resource = stack.node.findAll().find((each) => each.node.path === `PlantStore/${path}/Resource`);
  (resource as CfnResource).addPropertyOverride(property, value);
  return Template.fromStack(stack);
}

/** The properties of all resources of a type by their logical ids. A reference is a text, such as `ID` or `ID.Arn`. */
export function allPropertiesOf(template: Template, type: string) {
  const resources = Object.entries(plain(template.findResources(type)));
  return Object.fromEntries(resources.map(([id, { Properties }]) => [id, Properties]));
}

/** The logical id of the only resource of a type, or of the one whose id begins with `name`. */
export function idOf(template: Template, type: string, name = ''): string {
  const ids = Object.keys(template.findResources(type)).filter((id) => id.startsWith(name));
  if (ids.length !== 1) throw new Error(`The template must have one ${type} ${name}, but has: ${ids}`);
  return ids.join();
}

/** The properties of the resource whose id `idOf` returns. */
export function propertiesOf(template: Template, type: string, name = '') {
  return allPropertiesOf(template, type)[idOf(template, type, name)];
}

/** Bundles the function, which takes seconds. Returns the folder of the bundle. */
export function bundleWith(settings: Partial<CompleteSettings> = {}): string {
  const stack = stackWith(settings, ['**']);
  const assembly = App.of(stack)?.synth().directory ?? '';
  const { Code } = propertiesOf(Template.fromStack(stack), 'AWS::Lambda::Function');
  return join(assembly, `asset.${Code.S3Key.split('.')[0]}`);
}

/** A copy of a part of a template in which a Ref is `ID`, a Fn::GetAtt `ID.ATTRIBUTE`, a Fn::Join its joined parts. */
export function plain<T extends object>(part: T): T {
  return JSON.parse(JSON.stringify(part), (_key, value) => {
    const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = Object(value);
    return Ref ?? attribute?.join('.') ?? join?.[1].join(join[0]) ?? value;
  });
}

/** The members of an object as CloudFormation's list of names and values. */
export const namedValues = (members: object) => Object.entries(members).map(([Name, Value]) => ({ Name, Value }));

/** The conditions of a filter, and the operators between them. Their order does not matter. */
export const conditionsOf = (filter: string) => new Set(filter.split(/^(filter) | (and|or|&&|\|\|) |[[\],]+/));
