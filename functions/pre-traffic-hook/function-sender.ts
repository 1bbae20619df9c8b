import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { Send, SentRequest } from './client.ts';
import { proxyEvent, proxyResponse } from './proxy-event.ts';

/**
 * Returns a function that sends requests to a version of a Lambda function as API Gateway does: as events of a proxy
 * integration. It throws if the version fails, or if API Gateway would reject its response. `resource` is the operation's
 * path, such as `/plants/{id}`.
 */
export function functionSender(lambda: LambdaClient, versionArn: string, resource: string, signal?: AbortSignal): Send {
  let requests = 0;
  return async (request) => {
    requests += 1;
    const event = eventOf(resource, request, requests % 2 === 1);
    const { FunctionError, Payload = new Uint8Array() } = await lambda.send(
      new InvokeCommand({ FunctionName: versionArn, Payload: JSON.stringify(event) }),
      signal && { abortSignal: signal },
    );
    const payload = Buffer.from(Payload).toString();
    if (FunctionError !== undefined) throw new Error(`the function failed: ${payload.slice(0, 300)}`);
    return proxyResponse(JSON.parse(payload));
  };
}

/** Returns a request as an event. Header names are in Title-Case, as some clients send them, or in lower case. */
function eventOf(resource: string, request: SentRequest, titleCase: boolean) {
  const { method, body } = request;
  const [path = '', query = ''] = request.path.split('?');
  const caseOf = (name: string) => (titleCase ? name.replaceAll(/\b[a-z]/g, (first) => first.toUpperCase()) : name);
  const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [caseOf(name), value]);
  return proxyEvent({
    resource,
    method,
    path,
    query,
    headers: [['Host', 'local'], ['User-Agent', 'pre-traffic-hook'], ...headers],
    body,
  });
}
