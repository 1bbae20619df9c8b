import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb';

/** A function of the template, as Lambda would be told of it. */
export interface FunctionConfiguration {
  name: string;
  /** The bundle's folder, and in it `file.export` of the handler. */
  assetDirectory: string;
  handler: string;
  timeoutSeconds: number;
  memoryMegabytes: number;
  environment: Record<string, string>;
}

export interface Route {
  method: string;
  /** The path in the API definition, with its `{parameters}`. */
  resource: string;
  integration: LambdaIntegration | MockIntegration;
}

export interface LambdaIntegration {
  functionName: string;
  timeoutMs: number;
}

/** Responds without a function ("x-amazon-apigateway-integration object"). */
export interface MockIntegration {
  type: 'mock';
  /** By media type. */
  requestTemplates: Record<string, string>;
  /** Applies to a body of another media type: `when_no_match`, `when_no_templates` or `never`. */
  passthroughBehavior: string;
  contentHandling?: string | undefined;
  responses: { default: FixedResponse & { contentHandling?: string | undefined } };
}

/** A gateway response, or an integration response of a mock: then its template is in the Velocity Template Language. */
interface FixedResponse {
  statusCode: string;
  responseParameters: Record<string, string>;
  /** Absent if the response has only headers, as a preflight that allows one origin has. */
  responseTemplates?: { 'application/json': string };
}

/** What a caller is answered; header names are in lower case. */
export interface Answer {
  statusCode: number;
  headers: Record<string, string | string[]>;
  body: string;
}

/** What a synthesized stack is made of, its references resolved to local names. */
export interface Template {
  stage: string;
  /** Whether bodies of a media type are bytes, which reach the function as base64. */
  isBinary: (mediaType: string) => boolean;
  functions: FunctionConfiguration[];
  tables: CreateTableCommandInput[];
  /** The most specific first. */
  routes: Route[];
  /** By response type ("Gateway response types for API Gateway"). */
  gatewayResponses: Map<string, Answer>;
  outputs: Record<string, string>;
}

/** Where the local run claims to be; both stand in ARNs and signatures, and nothing checks them. */
export const LOCAL_REGION = 'us-east-1';
export const LOCAL_ACCOUNT = '000000000000';

/** What the local run reads of a template, once its references are resolved. */
interface CloudFormationTemplate {
  /** Of the metadata, what a function has: its bundle's folder in the assembly. */
  Resources: Record<string, { Type: string; Properties: unknown; Metadata: { 'aws:asset:path': string } }>;
  Outputs: Record<string, { Value: string }>;
}

interface CloudAssemblyManifest {
  artifacts: Record<string, { type: string; properties: { templateFile: string } }>;
}

/** What the local run reads of the API's OpenAPI document ("OpenAPI extensions for API Gateway"). */
interface ApiDefinition {
  paths: Record<string, Record<string, { 'x-amazon-apigateway-integration': Integration }>>;
  'x-amazon-apigateway-gateway-responses': Record<string, FixedResponse>;
  'x-amazon-apigateway-binary-media-types'?: string[];
}

type Integration = MockIntegration | { type: 'aws_proxy'; uri: string; timeoutInMillis?: number };

/** Reads the one stack of a cloud assembly (`cdk.out`). */
export function readTemplate(assembly: string): Template {
  const read = (file: string) => String(readFileSync(join(assembly, file)));
  const { artifacts } = JSON.parse(read('manifest.json')) as CloudAssemblyManifest;
  const stacks = Object.values(artifacts).filter(({ type }) => type === 'aws:cloudformation:stack');
  const [stack] = stacks;
  if (!stack || stacks.length > 1) {
    throw new Error(`${assembly} holds ${stacks.length} stacks; the local run needs exactly one.`);
  }
  const { Resources, Outputs } = JSON.parse(read(stack.properties.templateFile), resolve) as CloudFormationTemplate;

  function ofType<Properties>(type: string) {
    return Object.entries(Resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([name, { Properties, Metadata }]) => ({ name, ...(Properties as Properties), Metadata }));
  }

  function theOnly<Properties>(type: string) {
    const [found, ...others] = ofType<Properties>(type);
    if (!found || others.length > 0) throw new Error(`The local run needs exactly one ${type} in the stack.`);
    return found;
  }

  const aliases = ofType<{ FunctionName: string }>('AWS::Lambda::Alias');
  const functionNameOf = (uri: string): string => {
    const called = uri.replaceAll(/.*\/functions\/|\/invocations/g, '');
    return aliases.find(({ name }) => name === called)?.FunctionName ?? called;
  };

  const { Body: api } = theOnly<{ Body: ApiDefinition }>('AWS::ApiGateway::RestApi');

  return {
    stage: theOnly<{ StageName: string }>('AWS::ApiGateway::Stage').StageName,
    isBinary: (mediaType) =>
      [mediaType, '*/*'].some((type) => api['x-amazon-apigateway-binary-media-types']?.includes(type)),
    functions: ofType<{
      Handler: string;
      Timeout: number;
      MemorySize: number;
      Environment: { Variables: Record<string, string> };
    }>('AWS::Lambda::Function').map(({ name, Handler, Timeout, MemorySize, Environment, Metadata }) => ({
      name,
      assetDirectory: join(assembly, Metadata['aws:asset:path']),
      handler: Handler,
      timeoutSeconds: Timeout,
      memoryMegabytes: MemorySize,
      environment: Environment.Variables,
    })),
    tables: ofType<CreateTableCommandInput>('AWS::DynamoDB::Table').map(
      ({ name, AttributeDefinitions, KeySchema, BillingMode }) => ({
        TableName: name,
        AttributeDefinitions,
        KeySchema,
        BillingMode,
      }),
    ),
    routes: Object.entries(api.paths)
      .flatMap(([resource, methods]) =>
        Object.entries(methods).map(([method, { 'x-amazon-apigateway-integration': integration }]) => ({
          method: method === 'x-amazon-apigateway-any-method' ? 'ANY' : method.toUpperCase(),
          resource,
          integration:
            integration.type === 'mock'
              ? integration
              : { functionName: functionNameOf(integration.uri), timeoutMs: integration.timeoutInMillis ?? 29_000 },
        })),
      )
      .toSorted((a, b) => generality(a).localeCompare(generality(b))),
    gatewayResponses: new Map(
      Object.entries(api['x-amazon-apigateway-gateway-responses']).map(([type, response]) => [
        type,
        answerOf(response),
      ]),
    ),
    outputs: Object.fromEntries(Object.entries(Outputs).map(([name, { Value }]) => [name, Value])),
  };
}

/** The function behind a route. Throws where the route has none. */
export function functionBehind<LocalFunction extends { name: string }>(
  { routes, functions }: Pick<Template, 'routes'> & { functions: LocalFunction[] },
  method: string,
  resource: string,
): LocalFunction {
  const route = routes.find((each) => [method, 'ANY'].includes(each.method) && each.resource === resource);
  const { functionName } = (route?.integration ?? {}) as Partial<LambdaIntegration>;
  const found = functions.find(({ name }) => name === functionName);
  if (!found) throw new Error(`${method} ${resource} is no route to a function of the stack.`);
  return found;
}

/** The functions that requests reach; the others are called by a release. */
export function servedFunctions({ functions, routes }: Template): FunctionConfiguration[] {
  const isServed = (name: string) =>
    routes.some(({ integration }) => 'functionName' in integration && integration.functionName === name);
  return functions.filter(({ name }) => isServed(name));
}

/**
 * What sorts the most specific route first: part by part, a fixed one before a parameter, that before a greedy one; of
 * one resource's methods, any method last.
 */
function generality({ resource, method }: { resource: string; method: string }): string {
  const parts = resource.split('/').map((part) => (part.includes('+}') ? 2 : part.includes('}') ? 1 : 0));
  return [...parts, method === 'ANY' ? 1 : 0].join();
}

/** A header's name is `method.response.header.NAME` or `gatewayresponse.header.NAME`; its value is in quotes. */
export function answerOf({ statusCode, responseParameters, responseTemplates }: FixedResponse): Answer {
  const headers = Object.entries(responseParameters).map(([name, value]) => [
    name.replace(/.*\.header\./, '').toLowerCase(),
    value.replaceAll("'", ''),
  ]);
  return {
    statusCode: Number(statusCode),
    headers: { ...Object.fromEntries(headers), 'content-type': 'application/json' },
    body: responseTemplates?.['application/json'] ?? '',
  };
}

/**
 * Carries out CloudFormation's intrinsic functions, as a reviver of `JSON.parse`: from the inside to the outside. A
 * resource, and whatever attribute of it, is called by its logical id.
 */
function resolve(_key: string, value: unknown): unknown {
  const {
    Ref: reference,
    'Fn::GetAtt': attribute,
    'Fn::Join': join,
  } = (value ?? {}) as { Ref?: string; 'Fn::GetAtt'?: [id: string, name: string]; 'Fn::Join'?: [string, string[]] };
  if (reference !== undefined) return PSEUDO_PARAMETERS[reference] ?? reference;
  if (attribute) return attribute[0];
  if (join) return join[1].join(join[0]);
  return value;
}

const PSEUDO_PARAMETERS: Record<string, string> = {
  'AWS::AccountId': LOCAL_ACCOUNT,
  'AWS::Partition': 'aws',
  'AWS::Region': LOCAL_REGION,
  'AWS::URLSuffix': 'amazonaws.com',
};
