import { environmentVariable, optionalVariable } from '../environment.ts';

/** Returns the endpoint from the environment, or else the region's ("Amazon DynamoDB endpoints and quotas"). */
export function resolveEndpoint(): URL {
  const region = environmentVariable('AWS_REGION');
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const url = optionalVariable('AWS_ENDPOINT_URL_DYNAMODB') || optionalVariable('AWS_ENDPOINT_URL');
  return new URL(url || `https://dynamodb.${region}.${suffix}`);
}
