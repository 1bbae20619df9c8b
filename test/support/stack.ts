import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { type CompleteSettings, type Settings, withDefaults } from '../../infra/settings.ts';
import { PlantStoreStack } from '../../infra/stack.ts';

/** A stage in which every setting has a value. */
export const EVERYTHING: Required<Settings> = {
  account: '123456789012',
  alarms: { email: 'ops@example.com', runbookUrl: 'https://example.com/operations.md', hourlySmokeTest: true },
  allowOrigins: ['https://a.example', 'https://b.example'],
  cloudWatchRole: true,
  domain: { name: 'plants.example.com', hostedZoneId: 'Z0123456789ABC' },
  ephemeral: false,
  identityProvider: { issuer: 'https://id.example.com', audiences: ['plants', 'gardens'], scope: 'write' },
  region: 'eu-west-1',
  requestsPerSecond: 500,
  webAcl: true,
};

/** The stage and the feature flags of cdk.json, with which the CDK CLI deploys. */
export const { context }: { context: Record<string, unknown> } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8'),
);

/** The stack of production with these settings. Skips bundling, which takes seconds. */
export function stackWith(settings: Partial<CompleteSettings> = {}, bundled: string[] = []): PlantStoreStack {
  const app = new App({ context: { ...context, 'aws:cdk:bundling-stacks': bundled } });
  const { stage = 'production', withoutCanary, ...ofStage } = settings;
  return new PlantStoreStack(app, withDefaults(stage, ofStage, withoutCanary));
}

type Section = ReturnType<Template['findResources']>;

/**
 * Synthesizes a stack. In the template, `${ID}` and `${ID.ATTRIBUTE}` are references, and joined texts are whole. Its
 * methods find a resource of a type: the only one, or the only one whose logical id begins with `name`.
 */
export function synthesize(stack: PlantStoreStack) {
  const template: Record<'Resources' | 'Outputs', Section> = JSON.parse(
    JSON.stringify(Template.fromStack(stack)),
    (_key, value) => {
      const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': joined } = Object(value);
      if (Ref ?? attribute) return `\${${Ref ?? attribute.join('.')}}`;
      return joined?.[1].join(joined[0]) ?? value;
    },
  );
  const { Resources } = template;
  function idOf(type: string, name = ''): string {
    const ids = Object.keys(Resources).filter((id) => Resources[id]?.['Type'] === type && id.startsWith(name));
    if (ids.length !== 1) throw new Error(`The template must have one ${type} ${name}, but has: ${ids}`);
    return ids.join();
  }
  return {
    ...template,
    idOf,
    refTo: (type: string, name?: string) => `\${${idOf(type, name)}}`,
    propertiesOf: (type: string, name?: string) => Resources[idOf(type, name)]?.['Properties'],
    /** Returns the properties of all resources of a type. */
    allPropertiesOf: (type: string) =>
      Object.values(Resources).flatMap(({ Type, Properties }) => (Type === type ? [Properties] : [])),
  };
}

const templates = new Map<string, ReturnType<typeof synthesize>>();

/** The template of the stack with these settings, synthesized once for all tests of a file. */
export function templateWith(settings: Partial<CompleteSettings> = {}) {
  const key = JSON.stringify(settings);
  const template = templates.get(key) ?? synthesize(stackWith(settings));
  templates.set(key, template);
  return template;
}

/** Bundles the function, which takes seconds. Returns the folder of the bundle. */
export function bundleWith(settings: Partial<CompleteSettings> = {}): string {
  const stack = stackWith(settings, ['**']);
  const assembly = App.of(stack)?.synth().directory ?? '';
  const { Code } = synthesize(stack).propertiesOf('AWS::Lambda::Function');
  return join(assembly, `asset.${Code.S3Key.split('.')[0]}`);
}
