import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { PRODUCTION, type StackSettings, type Stage, withDefaults } from '../../infra/settings.ts';
import { PlantStoreStack } from '../../infra/stack.ts';

/** A stage in which every setting has a value. */
export const EVERYTHING: Required<Stage> = {
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
export function stackWith(settings: Partial<StackSettings> = {}, bundled: string[] = []): PlantStoreStack {
  const app = new App({ context: { ...context, 'aws:cdk:bundling-stacks': bundled } });
  const { stage = PRODUCTION, withoutCanary, ...ofStage } = settings;
  return new PlantStoreStack(app, withDefaults(stage, ofStage, withoutCanary));
}

const templates = new Map<string, Template>();

/** The stack's template, synthesized once for all tests of a file. */
export function templateWith(settings: Partial<StackSettings> = {}): Template {
  const key = JSON.stringify(settings);
  const template = templates.get(key) ?? Template.fromStack(stackWith(settings));
  templates.set(key, template);
  return template;
}

/** The properties of all resources of a type, by their logical ids. */
export function propertiesOf(template: Template, type: string) {
  const resources = Object.entries(template.findResources(type));
  return Object.fromEntries(resources.map(([id, { Properties }]) => [id, Properties]));
}

/** The logical id of the only resource of a type. */
export function onlyIdOf(template: Template, type: string): string {
  template.resourceCountIs(type, 1);
  return Object.keys(template.findResources(type)).join();
}

/** The properties of the only resource of a type. */
export function onlyOf(template: Template, type: string) {
  return propertiesOf(template, type)[onlyIdOf(template, type)];
}

/** Bundles the function, which takes seconds. Returns the folder of the bundle. */
export function bundleWith(settings: Partial<StackSettings> = {}): string {
  const stack = stackWith(settings, ['**']);
  const assembly = App.of(stack)?.synth().directory ?? '';
  const { Code } = onlyOf(Template.fromStack(stack), 'AWS::Lambda::Function');
  return join(assembly, `asset.${Code.S3Key.split('.')[0]}`);
}

/** A value of a template as text: a Ref as `ID`, a Fn::GetAtt as `ID.ATTRIBUTE`, a Fn::Join as its joined parts. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = value as Record<string, never>;
  if (Ref !== undefined) return Ref;
  if (attribute) return (attribute as string[]).join('.');
  if (join) return (join[1] as unknown[]).map(textOf).join(join[0]);
  throw new Error(`${JSON.stringify(value)} must be a string, Ref, Fn::GetAtt or Fn::Join.`);
}
