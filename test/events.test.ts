import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plantMemberNames } from '../functions/create-plant/contract.generated.js';
import { pick } from '../functions/shared/success.ts';
import { readOperations } from '../infra/contract.ts';
import { startServedFunctions } from '../tools/local/lambda.ts';
import { projectRoot } from '../tools/local/synthesize.ts';
import { sharedTemplate } from './support/assembly.ts';
import { closedAtEnd } from './support/closed-at-end.ts';
import { type ApiResponse, contract, contractBody } from './support/contract.ts';
import { startEngine } from './support/engine.ts';
import { errorOfSample, eventWith, sampleEvent, sampleNames } from './support/event.ts';

/* The sample events, and the same requests in requests.http. The errors among them are examples in openapi.yaml. */

const operations = readOperations();
const template = await sharedTemplate();
const engine = closedAtEnd(await startEngine(template));
const functions = closedAtEnd(await startServedFunctions(template, engine, () => {}));

/** An example in openapi.yaml whose request is too large for a file. */
const TOO_LARGE = 'error-413-plant-too-large';
const tooLarge = eventWith({ body: JSON.stringify({ id: 2, name: 'x'.repeat(400 * 1024) }) });

/** Parses a file for editors' HTTP clients: `### NAME` starts a request, `#` a comment, `@NAME =` sets a variable. */
function readRequests(text: string) {
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
const requests = readRequests(readFileSync(join(projectRoot, 'requests.http'), 'utf8'));
const requestNames = requests.map(({ name }) => name);

/** The examples of an operation's response with this status. */
function examplesOf(method: string, path: string, status: number) {
  const { content } = contract.paths[path][method.toLowerCase()].responses[status];
  const { example, examples = {} } = content['application/json'];
  return { example, examples: examples as Record<string, { value: unknown }> };
}

test('the bundle responds to each sample event with the error in its name and the example in openapi.yaml', async () => {
  for (const name of [...sampleNames, TOO_LARGE]) {
    const event = name === TOO_LARGE ? tooLarge : sampleEvent(name);
    const response = (await functions.invoke(event)) as ApiResponse;
    const body = contractBody(response, event);
    expect({ name, error: body['error'] }).toEqual({ name, error: errorOfSample(name) });
    const { example, examples } = examplesOf(event.httpMethod, event.resource, response.statusCode);
    if (name in examples || name === 'create-plant') expect(body, name).toEqual(examples[name]?.value ?? example);
    if (!name.startsWith('create-plant')) continue;
    const sent = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8').toString();
    expect(body, name).toEqual(pick(JSON.parse(sent), plantMemberNames));
    const id = /"id": ?(-?\d+)/.exec(sent)?.[1] ?? '';
    expect(await engine.stored(BigInt(id)), name).toEqual({ id, ...body });
  }
});

test.each(operations)('$operationId has a sample event for a success, $folder', ({ folder, method, path }) => {
  expect(sampleEvent(folder)).toMatchObject({ httpMethod: method, resource: path });
});

test('each sample event is named after an operation or an error', () => {
  const known = (name: string) =>
    errorOfSample(name) !== undefined || operations.some(({ folder }) => `${name}-`.startsWith(`${folder}-`));
  expect(sampleNames.filter((name) => !known(name))).toEqual([]);
});

test('each error in requests.http is an example in openapi.yaml, and the reverse', () => {
  const examples = operations.flatMap(({ method, path }) => Object.keys(examplesOf(method, path, 400).examples));
  expect(examples.toSorted()).toEqual(
    [...requestNames.filter((name) => errorOfSample(name) !== undefined), TOO_LARGE].toSorted(),
  );
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
