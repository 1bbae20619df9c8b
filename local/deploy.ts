import type { APIGatewayProxyEvent } from 'aws-lambda';
import { LOCAL_CREDENTIALS } from './dynamodb.ts';
import { type LogLine, startFunction } from './lambda.ts';
import { functionBehind, LOCAL_REGION, servedFunctions, type Template } from './template.ts';

export type Deployment = Awaited<ReturnType<typeof deploy>>;

/** Starts the functions behind the template's routes, with a DynamoDB to use. */
export async function deploy(template: Template, { endpoint }: { endpoint: string }, onLog: (line: LogLine) => void) {
  const start = async ({ name, environment, ...configuration }: Template['functions'][number]) => {
    const variables = { ...lambdaEnvironment(name, endpoint), ...environment };
    return [name, await startFunction({ name, environment: variables, ...configuration }, onLog)] as const;
  };
  const functions = new Map(await Promise.all(servedFunctions(template).map(start)));
  return {
    template,

    /** Returns the response of the function behind an event's route. Throws if the stack has no such route. */
    async invoke(event: APIGatewayProxyEvent): Promise<unknown> {
      const { name } = functionBehind(template, event.httpMethod, event.resource);
      return await functions.get(name)?.invoke(event);
    },

    async close(): Promise<void> {
      await Promise.all([...functions.values()].map((lambda) => lambda.close()));
    },
  };
}

/** The variables that Lambda sets itself ("Using Lambda environment variables"); none comes from this machine. */
export function lambdaEnvironment(functionName: string, dynamoDbEndpoint: string): Record<string, string> {
  return {
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDbEndpoint,
    AWS_LAMBDA_FUNCTION_NAME: functionName,
    AWS_REGION: LOCAL_REGION,
    AWS_ACCESS_KEY_ID: LOCAL_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: LOCAL_CREDENTIALS.secretAccessKey,
    // A profile of this machine could lead to a real table.
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    TZ: ':UTC',
  };
}
