import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readOperations } from '../contract/operations.ts';
import { DEVELOPMENT_TOKEN } from '../local/dynamodb.ts';
import { projectRoot } from '../local/synthesize.ts';
import { closedAtEnd } from './support/closed-at-end.ts';
import { contract, fetchedBody } from './support/contract.ts';
import { errorOfSample, sampleEvent, sampleNames } from './support/event.ts';
import { startServiceWithEngine } from './support/service.ts';

/* The examples of responses in openapi.yaml, and the requests in requests.http that get them. */

interface ExampleRequest {
  name: string;
  method: string;
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  body: string;
}

const operations = readOperations();
const requests = readRequests(readFileSync(join(projectRoot, 'requests.http'), 'utf8'));
/** Too large for requests.http. */
const TOO_LARGE: ExampleRequest = {
  name: 'error-413-plant-too-large',
  method: 'POST',
  path: '/plants',
  headers: { authorization: `Bearer ${DEVELOPMENT_TOKEN}`, 'content-type': 'application/json' },
  body: JSON.stringify({ id: 2, name: 'x'.repeat(400 * 1024) }),
};

/** Parses a file for editors' HTTP clients: `### NAME` starts a request, `#` a comment, `@NAME =` sets a variable. */
function readRequests(text: string): ExampleRequest[] {
  const [head = '', ...sections] = text.split(/^### /m);
  const variables = Object.fromEntries(
    Array.from(head.matchAll(/^@(\w+) = (.+)$/gm), ([, name, value]) => [name, value]),
  );
  return sections.map((section) => {
    const [name = '', ...lines] = section.split('\n').filter((line) => !line.startsWith('#'));
    const request = lines.join('\n').replaceAll(/\{\{(\w+)\}\}/g, (_, variable: string) => String(variables[variable]));
    const [, start = '', body = ''] = /^(.+?)(?:\n\n(.*))?$/s.exec(request.trimEnd()) ?? [];
    const [target = '', ...headerLines] = start.split('\n');
    const headers = Object.fromEntries(headerLines.map((line) => /^([\w-]+): (.*)$/.exec(line)?.slice(1) ?? []));
    const [method = '', url = ''] = target.split(' ');
    return { name, method, path: url.replace(/^http:\/\/127\.0\.0\.1:3000/, ''), headers, body };
  });
}

/** The path of a request in the contract, with its parameters in braces. */
const resourceOf = ({ name, path }: ExampleRequest) => (sampleNames.includes(name) ? sampleEvent(name).resource : path);

interface MediaType {
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

/** The examples of an operation's response with this status. */
function examplesOf(method: string, resource: string, status: number): MediaType {
  return contract.paths[resource][method.toLowerCase()].responses[status].content['application/json'];
}

const service = closedAtEnd(await startServiceWithEngine());

test('each request of requests.http gets the response in the contract’s example with its name', async () => {
  for (const request of [...requests, TOO_LARGE]) {
    const { name, method, path, headers, body } = request;
    const resource = resourceOf(request);
    const response = await fetch(service.url + path, { method, headers, ...(body && { body }) });
    const parsed = await fetchedBody(response, { httpMethod: method, resource });
    expect({ name, error: parsed['error'] }).toEqual({ name, error: errorOfSample(name) });
    const { example, examples } = examplesOf(method, resource, response.status);
    const hasExample = response.status === 400 || operations.some(({ folder }) => folder === name);
    if (hasExample) expect(parsed, name).toEqual(examples?.[name]?.value ?? example);
  }
});

test('each example of an error has a request that gets it', () => {
  const named = operations.flatMap(({ method, path }) => Object.keys(examplesOf(method, path, 400).examples ?? {}));
  expect(named).toContain('error-409-id-in-use');
  expect([...requests, TOO_LARGE].map(({ name }) => name)).toEqual(expect.arrayContaining(named));
});

test('each request of requests.http is the same as the sample event with its name', () => {
  for (const { name, method, path, headers, body } of requests) {
    expect(sampleNames).toContain(name);
    const event = sampleEvent(name);
    const { Authorization, 'Content-Type': type } = event.headers;
    const query = new URLSearchParams(event.queryStringParameters as Record<string, string>);
    const pathWithQuery = event.queryStringParameters ? `${event.path}?${query}` : event.path;
    const expected = { method: event.httpMethod, path: pathWithQuery, Authorization, type, body: event.body ?? '' };
    const { Authorization: sent, 'Content-Type': sentType } = headers;
    expect({ method, path, Authorization: sent, type: sentType, body }, name).toEqual(expected);
  }
});
