import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { LocalDynamoDb } from './dynamodb.ts';
import { LOCAL_CREDENTIALS } from './dynamodb.ts';
import { type LogLine, startFunction } from './lambda.ts';
import { functionBehind, LOCAL_REGION, servedFunctions, type Template } from './template.ts';

export interface Deployment {
  template: Template;
  /** What the function behind an event's route answers. Throws where the route has none, and as `LambdaFunction.invoke` does. */
  invoke(event: APIGatewayProxyEvent): Promise<unknown>;
  close(): Promise<void>;
}

/** Puts the template's functions in front of a DynamoDB, each started once. */
export async function deploy(
  template: Template,
  { endpoint }: Pick<LocalDynamoDb, 'endpoint'>,
  onLog: (line: LogLine) => void,
): Promise<Deployment> {
  const functions = await Promise.all(
    servedFunctions(template).map(async (configuration) => {
      const { name } = configuration;
      const environment = { ...lambdaEnvironment(name, endpoint), ...configuration.environment };
      return { name, lambda: await startFunction({ ...configuration, environment }, onLog) };
    }),
  );
  return {
    template,
    invoke: async (event) => {
      const { lambda } = functionBehind({ ...template, functions }, event.httpMethod, event.resource);
      return JSON.parse(await lambda.invoke(JSON.stringify(event)));
    },
    close: async () => {
      await Promise.all(functions.map(({ lambda }) => lambda.close()));
    },
  };
}

/** What Lambda sets by itself ("Using Lambda environment variables"); nothing of this machine's own gets in. */
export function lambdaEnvironment(functionName: string, dynamoDbEndpoint: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDbEndpoint,
    AWS_LAMBDA_FUNCTION_NAME: functionName,
    AWS_REGION: LOCAL_REGION,
    AWS_ACCESS_KEY_ID: LOCAL_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: LOCAL_CREDENTIALS.secretAccessKey,
    // Lambda has no such files, and a profile of this machine's could lead to a real table.
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    TZ: ':UTC',
  };
}
