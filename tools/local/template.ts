import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';
import type { RawResponse } from '../../functions/pre-traffic-hook/proxy-event.ts';

/** The region and the account of the local run, in ARNs and signatures. Nothing validates them. */
export const LOCAL_REGION = 'us-east-1';
export const LOCAL_ACCOUNT = '000000000000';

export interface FunctionConfiguration {
  name: string;
  /** The folder of the bundle. */
  assetDirectory: string;
  /** `FILE.EXPORT`, such as `index.handler`. */
  handler: string;
  timeoutSeconds: number;
  memoryMegabytes: number;
  environmentVariables: Record<string, string>;
  /** The port for a debugger. Default: none. */
  inspectorPort?: number;
}

export interface Route {
  /** In upper case, or ANY for all methods without their own route. */
  method: string;
  /** The path in the API definition, such as `/plants/{id}`. */
  resource: string;
  /** A function, or the response of a mock integration. */
  integration: { functionName: string } | { mock: RawResponse };
}

/** A synthesized stack. Its references are replaced by logical ids. */
export interface Template {
  apiStage: string;
  functions: FunctionConfiguration[];
  tables: CreateTableCommandInput[];
  /** Sorted from the most to the least specific. */
  routes: Route[];
  /** By response type ("Gateway response types for API Gateway"). */
  gatewayResponses: Map<string, RawResponse>;
  outputs: Record<string, string>;
}

/** The parts of a cloud assembly's manifest that the local run reads. */
interface Manifest {
  artifacts: Record<string, { type: string; properties: { templateFile: string } }>;
}

/** The parts of a CloudFormation template that the local run reads. */
interface CloudFormationTemplate {
  Resources: Record<string, { Type: string; Properties: object; Metadata: { 'aws:asset:path': string } }>;
  Outputs: Record<string, { Value: string }>;
}

/** The parts of the API definition that the local run reads ("OpenAPI extensions for API Gateway"). */
interface ApiDefinition {
  paths: Record<string, Record<string, { 'x-amazon-apigateway-integration': Integration }>>;
  'x-amazon-apigateway-gateway-responses': Record<string, ResponseDefinition>;
}

type Integration = { type: 'aws_proxy'; uri: string } | { type: 'mock'; responses: { default: ResponseDefinition } };

interface ResponseDefinition {
  statusCode: string;
  /** Maps `method.response.header.NAME` or `gatewayresponse.header.NAME` to the value in single quotes. */
  responseParameters: Record<string, string>;
  responseTemplates?: { 'application/json': string };
}

/** Reads the stack of a cloud assembly, such as `cdk.out`. Throws if it does not have exactly one stack. */
export function readTemplate(assembly: string): Template {
  const read = (file: string, reviver?: typeof replaceIntrinsic) =>
    JSON.parse(readFileSync(join(assembly, file), 'utf8'), reviver);
  const { artifacts }: Manifest = read('manifest.json');
  const stacks = Object.values(artifacts).filter(({ type }) => type === 'aws:cloudformation:stack');
  const { templateFile } = onlyItem('stack', stacks).properties;
  const { Resources, Outputs }: CloudFormationTemplate = read(templateFile, replaceIntrinsic);

  function ofType<Properties>(type: string) {
    return Object.entries(Resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([name, { Properties, Metadata }]) => ({ name, Metadata, ...(Properties as Properties) }));
  }

  const { Body: api } = onlyItem('RestApi', ofType<{ Body: ApiDefinition }>('AWS::ApiGateway::RestApi'));
  const functions = ofType<{
    Handler: string;
    Timeout: number;
    MemorySize: number;
    Environment?: { Variables: Record<string, string> };
  }>('AWS::Lambda::Function');
  const tables = ofType<CreateTableCommandInput>('AWS::DynamoDB::Table');
  const aliases = ofType<{ FunctionName: string }>('AWS::Lambda::Alias');

  function toIntegration(integration: Integration): Route['integration'] {
    if (integration.type === 'mock') return { mock: toResponse(integration.responses.default) };
    // The logical id of an alias or a function, as in `arn:…/functions/CreatePlantLive/invocations`.
    const invoked = integration.uri.replaceAll(/.*\/functions\/|\/invocations/g, '');
    const alias = aliases.find(({ name }) => name === invoked);
    return { functionName: alias?.FunctionName ?? invoked };
  }

  const routes = Object.entries(api.paths).flatMap(([resource, methods]) =>
    Object.entries(methods).map(([method, { 'x-amazon-apigateway-integration': integration }]) => ({
      method: method === 'x-amazon-apigateway-any-method' ? 'ANY' : method.toUpperCase(),
      resource,
      integration: toIntegration(integration),
    })),
  );
  const gatewayResponses = Object.entries(api['x-amazon-apigateway-gateway-responses']);
  return {
    apiStage: onlyItem('Stage', ofType<{ StageName: string }>('AWS::ApiGateway::Stage')).StageName,
    functions: functions.map(({ name, Metadata, Handler, Timeout, MemorySize, Environment }) => ({
      name,
      assetDirectory: join(assembly, Metadata['aws:asset:path']),
      handler: Handler,
      timeoutSeconds: Timeout,
      memoryMegabytes: MemorySize,
      environmentVariables: Environment?.Variables ?? {},
    })),
    tables: tables.map(({ name: TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode }) => {
      return { TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode };
    }),
    routes: routes.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1)),
    gatewayResponses: new Map(gatewayResponses.map(([type, response]) => [type, toResponse(response)])),
    outputs: Object.fromEntries(Object.entries(Outputs).map(([name, { Value }]) => [name, Value])),
  };
}

/** The longest timer of Node.js: 24 days. */
const MAX_TIMER_SECONDS = 2_147_483;

/** Gives each served function a port for a debugger, and no timeout, because a debugger pauses it. */
export function withDebuggerPorts(template: Template, firstPort: number): Template {
  const functions = servedFunctions(template).map((each, index) => {
    return { ...each, timeoutSeconds: MAX_TIMER_SECONDS, inspectorPort: firstPort + index };
  });
  return { ...template, functions };
}

type Routing = Pick<Template, 'routes' | 'functions'>;

/** Returns the function of a route. Throws if the stack has no such route to a function. */
export function functionOfRoute(
  { routes, functions }: Routing,
  method: string,
  resource: string,
): FunctionConfiguration {
  const route = routes.find((each) => [method, 'ANY'].includes(each.method) && each.resource === resource);
  const name = route && 'functionName' in route.integration ? route.integration.functionName : undefined;
  const found = functions.find((each) => each.name === name);
  if (!found) throw new Error(`${method} ${resource} is not a route to a function of the stack.`);
  return found;
}

/** Returns the functions of the routes, without the stack's other functions, the pre-traffic hooks. */
export function servedFunctions({ functions, routes }: Routing): FunctionConfiguration[] {
  const names = routes.map(({ integration }) => 'functionName' in integration && integration.functionName);
  return functions.filter(({ name }) => names.includes(name));
}

function onlyItem<Item>(kind: string, items: Item[]): Item {
  const [item] = items;
  if (!item || items.length > 1) throw new Error(`The local run needs exactly one ${kind}; there are ${items.length}.`);
  return item;
}

/** Sorts fixed path segments before parameters, parameters before greedy ones, and ANY after other methods. */
function sortKey({ resource, method }: Pick<Route, 'resource' | 'method'>): string {
  // "{" and "~" come after letters and digits.
  const path = resource.replaceAll(/\{\w+\}/g, '{').replaceAll(/\{\w+\+\}/g, '{{');
  return `${path} ${method === 'ANY' ? '~' : method}`;
}

function toResponse({ statusCode, responseParameters, responseTemplates }: ResponseDefinition): RawResponse {
  const headers = Object.entries(responseParameters).map(([name, value]) => [
    name.replace(/.*\.header\./, '').toLowerCase(),
    value.replaceAll("'", ''),
  ]);
  return {
    status: Number(statusCode),
    headers: { ...Object.fromEntries(headers), 'content-type': 'application/json' },
    // A preflight response has only headers.
    text: responseTemplates?.['application/json'] ?? '',
  };
}

const PSEUDO_PARAMETERS: Record<string, string> = {
  'AWS::AccountId': LOCAL_ACCOUNT,
  'AWS::Partition': 'aws',
  'AWS::Region': LOCAL_REGION,
  'AWS::URLSuffix': 'amazonaws.com',
};

/** A reviver for `JSON.parse` that replaces intrinsic functions: `Ref` and `Fn::GetAtt` by the logical id. */
function replaceIntrinsic(_key: string, value: unknown): unknown {
  const intrinsic = value as { Ref?: string; 'Fn::GetAtt'?: string[]; 'Fn::Join'?: [string, string[]] } | null;
  if (intrinsic?.Ref !== undefined) return PSEUDO_PARAMETERS[intrinsic.Ref] ?? intrinsic.Ref;
  if (intrinsic?.['Fn::GetAtt']) return intrinsic['Fn::GetAtt'][0];
  if (intrinsic?.['Fn::Join']) return intrinsic['Fn::Join'][1].join(intrinsic['Fn::Join'][0]);
  return value;
}
