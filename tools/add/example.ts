import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { API_STAGE } from '../../infra/api/api-stage.ts';
import { type Operation, operationObject, parseContract, readOperations } from '../../infra/contract.ts';
import { generate, writeFiles } from '../generate/generate.ts';

const TABLE_KEYS_FILE = 'infra/table-keys.ts';
const GRANTS_FILE = 'infra/grants.ts';
/** The first lines of the blocks at whose end `npm run add` inserts something. */
const PATHS = 'paths:';
const GRANTS = 'const GRANTS: Record<string, OperationGrants> = {';

/**
 * Adds an example to the project in the folder `root`. Returns the paths of the changed and the new files, without those
 * that are generated.
 *
 * @param example the name of its folder in `examples/`
 * @throws before the first write, if it cannot add all of it
 */
export function addExample(example: string, root: string): string[] {
  const files = filesWithExample(example, root);
  writeFiles(root, { ...files, ...generate(files['openapi.yaml'] ?? '') });
  return Object.keys(files);
}

/** Returns the texts of the changed and the new files, by path from the root. Throws if a part exists already. */
function filesWithExample(example: string, root: string): Record<string, string> {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const source = (file: string) => read(`examples/${example}/${file}`);
  for (const path of [`functions/${example}`, `events/${example}.json`]) {
    if (existsSync(join(root, path))) throw new Error(`${path} exists already; nothing was added.`);
  }
  const [operation] = readOperations(parseContract(source('openapi.yaml')));
  if (!operation) throw new Error(`examples/${example}/openapi.yaml has no operation.`);
  const line = `  ${operation.operationId}: `;
  const grants = read(GRANTS_FILE);
  if (grants.includes(`\n${line}`)) throw new Error(`${GRANTS_FILE} has ${operation.operationId} already.`);
  const code = readdirSync(join(root, 'examples', example)).filter((file) => file.endsWith('.ts'));
  const [, index] = /IndexName: '(\w+)'/.exec(code.map(source).join('')) ?? [];
  if (index !== undefined && !read(TABLE_KEYS_FILE).includes(`${index}:`)) {
    throw new Error(`${TABLE_KEYS_FILE} has no index ${index}, which ${example} reads (docs/changing.md, "An index").`);
  }
  return {
    'openapi.yaml': contractWith(operation, source('openapi.yaml'), read('openapi.yaml')),
    [GRANTS_FILE]: insertAtEnd(GRANTS_FILE, grants, GRANTS, `${line}${source('grants.txt').trim()},`),
    ...Object.fromEntries(code.map((file) => [`functions/${example}/${file}`, source(file)])),
    [`events/${example}.json`]: sampleEvent(operation, source('openapi.yaml'), read('events/create-plant.json')),
  };
}

/** Returns the contract with the operation of an example's contract, which has only this operation. */
function contractWith({ operationId, method, path }: Operation, example: string, text: string): string {
  const contract = parseContract(text);
  const existing = readOperations(contract).find(
    (each) => each.operationId === operationId || (each.method === method && each.path === path),
  );
  if (existing)
    throw new Error(`openapi.yaml has ${existing.method} ${existing.path} (${existing.operationId}) already.`);
  const [, pathLine = '', ...methodLines] = example.trimEnd().split('\n');
  return path in contract.paths
    ? insertAtEnd('openapi.yaml', text, pathLine, methodLines.join('\n'))
    : insertAtEnd('openapi.yaml', text, PATHS, [pathLine, ...methodLines].join('\n'));
}

/** Inserts lines at the end of the block that the line `start` starts: after its last line that is indented further. */
function insertAtEnd(file: string, text: string, start: string, inserted: string): string {
  const lines = text.split('\n');
  const first = lines.indexOf(start);
  if (first < 0) throw new Error(`${file} has no line "${start.trim()}", which starts the block for the operation.`);
  // A comment can be about what follows.
  const isCode = (line: string) => !/^\s*(#|\/\/|$)/.test(line);
  const isOutside = (line: string) => isCode(line) && line.search(/\S/) <= start.search(/\S/);
  const next = lines.findIndex((line, index) => index > first && isOutside(line));
  const last = lines.slice(0, next < 0 ? lines.length : next).findLastIndex(isCode);
  return lines.toSpliced(last + 1, 0, inserted).join('\n');
}

/** Returns the sample event of an operation: `sample` with the examples of the operation's parameters and body. */
function sampleEvent(operation: Operation, example: string, sample: string): string {
  const { method, path: resource } = operation;
  const { parameters, requestBody } = operationObject(parseContract(example), operation);
  const body = requestBody?.content?.['application/json']?.example;
  const valuesIn = (place: string): [string, string][] =>
    parameters
      .filter(({ in: of, example }) => of === place && example !== undefined)
      .map(({ name, example }) => [name, String(example)]);
  // As API Gateway passes them: only the query is decoded.
  const inPath = valuesIn('path').map(([name, value]): [string, string] => [name, encodeURIComponent(value)]);
  const inQuery = valuesIn('query');
  const path = inPath.reduce((text, [name, value]) => text.replace(`{${name}}`, value), resource);
  const orNull = (entries: [string, unknown][]) => (entries.length > 0 ? Object.fromEntries(entries) : null);
  const event: APIGatewayProxyEvent = JSON.parse(sample);
  const changed = {
    ...event,
    resource,
    path,
    httpMethod: method,
    queryStringParameters: orNull(inQuery),
    multiValueQueryStringParameters: orNull(inQuery.map(([name, value]) => [name, [value]])),
    pathParameters: orNull(inPath),
    requestContext: {
      ...event.requestContext,
      resourcePath: resource,
      httpMethod: method,
      path: `/${API_STAGE}${path}`,
    },
    body: body === undefined ? null : JSON.stringify(body),
  };
  // As `npm run format` writes it: each array has one item.
  return `${JSON.stringify(changed, null, 2).replaceAll(/\[\s+(.+)\s+\]/g, '[$1]')}\n`;
}
