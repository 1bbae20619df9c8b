import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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

export interface Table {
  name: string;
  partitionKey: string;
  /** The properties of its CreateTable call. */
  definition: Pick<TableProperties, 'AttributeDefinitions' | 'KeySchema' | 'BillingMode'>;
}

export interface Route {
  method: string;
  /** The resource's path, with `{parameters}` as they stand in the template. */
  resource: string;
  integration: LambdaIntegration | MockIntegration;
}

export interface LambdaIntegration {
  functionName: string;
  timeoutMs: number;
}

/** An answer that the gateway makes without a function behind it. */
export interface MockIntegration {
  /** By media type. */
  requestTemplates: Record<string, string>;
  /** What becomes of a body of another media type: WHEN_NO_MATCH, WHEN_NO_TEMPLATES or NEVER. */
  passthroughBehavior: string;
  contentHandling: string | undefined;
  response: {
    statusCode: number;
    headers: Record<string, string>;
    contentHandling: string | undefined;
    /** The body's mapping template, in the Velocity Template Language. */
    template: string;
  };
}

export interface GatewayResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

/** What a synthesized stack is made of, its references resolved to local names. */
export interface Template {
  stage: string;
  /** Whether bodies of a media type are bytes, which reach the function as base64. */
  isBinary: (mediaType: string) => boolean;
  functions: FunctionConfiguration[];
  tables: Table[];
  /** The most specific first. */
  routes: Route[];
  /** By response type ("Gateway response types for API Gateway"). */
  gatewayResponses: Map<string, GatewayResponse>;
  outputs: Record<string, string>;
}

/** Where the local run claims to be; both stand in ARNs and signatures, and nothing checks them. */
export const LOCAL_REGION = 'us-east-1';
export const LOCAL_ACCOUNT = '000000000000';

interface TableProperties {
  AttributeDefinitions: { AttributeName: string; AttributeType: 'S' | 'N' | 'B' }[];
  KeySchema: { AttributeName: string; KeyType: 'HASH' | 'RANGE' }[];
  BillingMode: 'PAY_PER_REQUEST';
}

interface Resource {
  Type: string;
  Properties: Record<string, unknown>;
  Metadata?: Record<string, string>;
}

interface CloudFormationTemplate {
  Resources: Record<string, Resource>;
  Outputs: Record<string, { Value: unknown }>;
}

interface CloudAssemblyManifest {
  artifacts: Record<string, { type: string; properties?: { templateFile: string } }>;
}

/** Reads the one stack of a cloud assembly (`cdk.out`). */
export function readTemplate(assembly: string): Template {
  const manifest = readJson<CloudAssemblyManifest>(join(assembly, 'manifest.json'));
  const files = Object.values(manifest.artifacts)
    .filter(({ type }) => type === 'aws:cloudformation:stack')
    .map(({ properties }) => properties?.templateFile);
  const [file] = files;
  if (file === undefined || files.length > 1) {
    throw new Error(`${assembly} holds ${files.length} stacks; the local run needs exactly one.`);
  }
  const { Resources, Outputs } = readJson<CloudFormationTemplate>(join(assembly, file));
  const resolve = resolver(Resources);

  function ofType<Properties>(type: string) {
    return Object.entries(Resources)
      .filter(([, resource]) => resource.Type === type)
      .map(([name, { Properties, Metadata }]) => ({ name, ...(resolve(Properties) as Properties), Metadata }));
  }

  const resources = ofType<{ ParentId: string; PathPart: string }>('AWS::ApiGateway::Resource');
  const pathOf = (id: string): string => {
    const resource = resources.find(({ name }) => name === id);
    return resource ? `${pathOf(resource.ParentId)}/${resource.PathPart}` : '';
  };

  const binaryMediaTypes =
    ofType<{ BinaryMediaTypes?: string[] }>('AWS::ApiGateway::RestApi')[0]?.BinaryMediaTypes ?? [];

  return {
    stage: ofType<{ StageName: string }>('AWS::ApiGateway::Stage')[0]?.StageName ?? '',
    isBinary: (mediaType) => [mediaType, '*/*'].some((type) => binaryMediaTypes.includes(type)),
    functions: ofType<{
      Handler: string;
      Timeout?: number;
      MemorySize?: number;
      Environment?: { Variables: Record<string, string> };
    }>('AWS::Lambda::Function').map(({ name, Handler, Timeout, MemorySize, Environment, Metadata }) => ({
      name,
      assetDirectory: join(assembly, Metadata?.['aws:asset:path'] ?? ''),
      handler: Handler,
      timeoutSeconds: Timeout ?? 3,
      memoryMegabytes: MemorySize ?? 128,
      environment: Environment?.Variables ?? {},
    })),
    tables: ofType<TableProperties>('AWS::DynamoDB::Table').map(
      ({ name, AttributeDefinitions, KeySchema, BillingMode }) => ({
        name,
        partitionKey: KeySchema.find(({ KeyType }) => KeyType === 'HASH')?.AttributeName ?? '',
        definition: { AttributeDefinitions, KeySchema, BillingMode },
      }),
    ),
    routes: ofType<{ HttpMethod: string; ResourceId: string; Integration: Integration }>('AWS::ApiGateway::Method')
      .map(({ HttpMethod, ResourceId, Integration }) => ({
        method: HttpMethod,
        resource: pathOf(ResourceId) || '/',
        integration: integration(Integration),
      }))
      .toSorted((a, b) => generality(a) - generality(b)),
    gatewayResponses: new Map(
      ofType<GatewayAnswer & { ResponseType: string }>('AWS::ApiGateway::GatewayResponse').map((response) => [
        response.ResponseType,
        {
          statusCode: Number(response.StatusCode),
          headers: fixedHeaders(response),
          body: response.ResponseTemplates?.['application/json'] ?? '',
        },
      ]),
    ),
    outputs: Object.fromEntries(Object.entries(Outputs).map(([name, { Value }]) => [name, String(resolve(Value))])),
  };
}

/** The function behind a route. Throws where the route has none. */
export function functionBehind(template: Template, method: string, resource: string): FunctionConfiguration {
  const route = template.routes.find((each) => each.method === method && each.resource === resource);
  const { functionName } = (route?.integration ?? {}) as Partial<LambdaIntegration>;
  const configuration = template.functions.find(({ name }) => name === functionName);
  if (!configuration) throw new Error(`${method} ${resource} is no route to a function of the stack.`);
  return configuration;
}

/** What makes an answer of the gateway's own, in a gateway response or in an integration response. */
interface GatewayAnswer {
  StatusCode: string;
  ResponseParameters?: Record<string, string>;
  ResponseTemplates?: Record<string, string>;
}

interface Integration {
  Type: string;
  Uri?: string;
  TimeoutInMillis?: number;
  RequestTemplates?: Record<string, string>;
  PassthroughBehavior?: string;
  ContentHandling?: string;
  IntegrationResponses?: (GatewayAnswer & { ContentHandling?: string })[];
}

/** A greedy path is more general than a parameter, that than a fixed path; any method than one. */
function generality({ resource, method }: { resource: string; method: string }): number {
  const ofPath = resource.includes('+}') ? 2 : resource.includes('}') ? 1 : 0;
  return 2 * ofPath + (method === 'ANY' ? 1 : 0);
}

function integration(properties: Integration): Route['integration'] {
  const { Type, Uri = '', TimeoutInMillis, IntegrationResponses } = properties;
  const [answer] = IntegrationResponses ?? [];
  if (Type === 'MOCK' && answer) {
    return {
      requestTemplates: properties.RequestTemplates ?? {},
      passthroughBehavior: properties.PassthroughBehavior ?? 'WHEN_NO_MATCH',
      contentHandling: properties.ContentHandling,
      response: {
        statusCode: Number(answer.StatusCode),
        headers: fixedHeaders(answer),
        contentHandling: answer.ContentHandling,
        template: answer.ResponseTemplates?.['application/json'] ?? '',
      },
    };
  }
  // Behind the function's name an alias may stand.
  const functionName = /:function:([^/:]+)(:\w+)?\/invocations$/.exec(Uri)?.[1] ?? '';
  return { functionName, timeoutMs: TimeoutInMillis ?? 29_000 };
}

/** Headers stand as `method.response.header.NAME` or `gatewayresponse.header.NAME`, their values in quotes. */
function fixedHeaders({ ResponseParameters = {} }: GatewayAnswer): Record<string, string> {
  return Object.fromEntries(
    Object.entries(ResponseParameters).map(([name, value]) => [
      name.replace(/^.*\.header\./, '').toLowerCase(),
      value.replaceAll("'", ''),
    ]),
  );
}

/** Carries out CloudFormation's intrinsic functions in a value: a resource is called by its logical id. */
function resolver(resources: Record<string, Resource>): (value: unknown) => unknown {
  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([key, member]): [string, unknown] => [key, resolve(member)]);
    const [name, argument] = entries[0] ?? [];
    if (entries.length === 1 && name === 'Ref') return reference(String(argument));
    if (entries.length === 1 && name === 'Fn::GetAtt') {
      const [id, attribute] = argument as [string, string];
      return attribute === 'Arn'
        ? `arn:aws:lambda:${LOCAL_REGION}:${LOCAL_ACCOUNT}:function:${id}`
        : `${id}.${attribute}`;
    }
    if (entries.length === 1 && name === 'Fn::Join') {
      const [separator, parts] = argument as [string, string[]];
      return parts.join(separator);
    }
    return Object.fromEntries(entries);
  }

  function reference(id: string): unknown {
    const { Type, Properties } = resources[id] ?? {};
    if (Type !== 'AWS::Lambda::Alias') return PSEUDO_PARAMETERS[id] ?? id;
    const { FunctionName, Name } = resolve(Properties) as { FunctionName: string; Name: string };
    return `arn:aws:lambda:${LOCAL_REGION}:${LOCAL_ACCOUNT}:function:${FunctionName}:${Name}`;
  }

  return resolve;
}

const PSEUDO_PARAMETERS: Record<string, string> = {
  'AWS::AccountId': LOCAL_ACCOUNT,
  'AWS::Partition': 'aws',
  'AWS::Region': LOCAL_REGION,
  'AWS::URLSuffix': 'amazonaws.com',
};

function readJson<Shape>(file: string): Shape {
  return JSON.parse(readFileSync(file, 'utf8')) as Shape;
}
