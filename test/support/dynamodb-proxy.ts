import { type FakeResponse, startFakeService } from './fake-service.ts';

// biome-ignore lint/suspicious/noExplicitAny: a request to DynamoDB, whose members depend on the action
type Input = any;

/** Handles a request to DynamoDB. `send` sends it, changed or not, to the engine. */
export type Between = (
  action: string,
  input: Input,
  send: (input: Input) => Promise<FakeResponse>,
) => Promise<FakeResponse>;

/** An endpoint in front of a DynamoDB engine, until the test is over. Every request passes `between`. */
export function startDynamoDbProxy({ endpoint }: { endpoint: string }, between: Between): Promise<string> {
  return startFakeService(async ({ headers, body }) => {
    const { host: _, connection: __, 'content-length': ___, ...passed } = headers;
    const [, action = ''] = String(headers['x-amz-target']).split('.');
    return await between(action, JSON.parse(body), async (input) => {
      const request = { method: 'POST', headers: passed as Record<string, string>, body: JSON.stringify(input) };
      const response = await fetch(endpoint, request);
      return {
        status: response.status,
        headers: { 'content-type': 'application/x-amz-json-1.0' },
        body: await response.text(),
      };
    });
  });
}
