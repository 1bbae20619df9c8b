import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { gatewayResponsesWith } from '../../infra/api/definition.ts';
import type { GrantedOperation } from '../../infra/functions.ts';
import { grantedOperations } from '../../infra/grants.ts';
import { PRODUCTION, type StackSettings, withDefaults } from '../../infra/settings.ts';
import { PlantStoreStack } from '../../infra/stack.ts';
import type { Operation } from '../../model/contract.ts';

/** The operations of the contract. */
export const allOperations = grantedOperations();

// TypeScript does not know that openapi.yaml has it.
export const createPlant = allOperations.find(({ operationId }) => operationId === 'createPlant') as GrantedOperation;

/** The settings of a stack that a test changes. */
type Settings = Partial<StackSettings>;

/** The stack with these settings and operations. Skips bundling, which takes seconds. */
export function stackWith(settings: Settings, operations = allOperations, bundled: string[] = []): PlantStoreStack {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': bundled } });
  const { stage = PRODUCTION, withoutCanary, ...ofStage } = settings;
  return new PlantStoreStack(app, { ...withDefaults(stage, ofStage, withoutCanary), operations });
}

const templates = new Map<string, Template>();

/** The stack's template, synthesized once for all tests of a process. */
export function templateWith(settings: Settings, operations = allOperations): Template {
  const key = JSON.stringify([settings, operations]);
  const template = templates.get(key) ?? Template.fromStack(stackWith(settings, operations));
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
  template.resourceCountIs(type, 1);
  return Object.values(propertiesOf(template, type))[0];
}

/** The function of an operation. */
export function functionOf(template: Template, { method, path }: Pick<Operation, 'method' | 'path'>) {
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

/** The resources that release an operation's function. `alarmIds` are the alarms that roll a release back. */
export function releaseOf(template: Template, operation: Operation) {
  const { id } = functionOf(template, operation);
  const aliases = template.findResources('AWS::Lambda::Alias', { Properties: { FunctionName: { Ref: id } } });
  const [[aliasId = '', alias] = [], ...others] = Object.entries(aliases);
  if (!alias || others.length > 0) throw new Error(`The function of ${operation.operationId} must have one alias.`);
  const update = alias['UpdatePolicy'].CodeDeployLambdaAliasUpdate;
  const group = propertiesOf(template, 'AWS::CodeDeploy::DeploymentGroup')[update.DeploymentGroupName.Ref];
  return {
    aliasId,
    alias,
    /** The logical id of the alias's version. */
    versionId: alias['Properties'].FunctionVersion['Fn::GetAtt'][0] as string,
    group,
    alarmIds: group.AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => Name.Ref) as string[],
  };
}

/** The OpenAPI document that defines the API. */
export function apiDefinitionOf(template: Template) {
  return onlyOf(template, 'AWS::ApiGateway::RestApi').Body;
}

/** The API's methods. `ANY` is every method of a path that has no entry of its own. */
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

/** The gateway responses by type. */
export function gatewayResponsesOf(template: Template): ReturnType<typeof gatewayResponsesWith> {
  return apiDefinitionOf(template)['x-amazon-apigateway-gateway-responses'];
}

/** Bundles the functions of a stack, which takes seconds. The returned functions return the folder of a bundle. */
export function bundlesWith(settings: Settings) {
  const stack = stackWith(settings, allOperations, ['**']);
  const assembly = App.of(stack)?.synth().directory ?? '';
  const template = Template.fromStack(stack);
  const folder = ({ Code }: { Code: { S3Key: string } }) => join(assembly, `asset.${Code.S3Key.split('.')[0]}`);
  return {
    ofFunction: (operation: Pick<Operation, 'method' | 'path'>) => folder(functionOf(template, operation).properties),
  };
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
