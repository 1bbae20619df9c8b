import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findChanges } from './breaking-changes.ts';

const CONTRACT = `
info: { version: 1.0.0 }
servers: [{ url: 'https://plants.example' }]
security: [{ token: [] }]
paths:
  /plants:
    post:
      operationId: createPlant
      parameters: [{ name: X-Owner, in: header, required: false }]
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Plant' }, example: 7 } } }
      responses: { 200: { headers: { Retry-After: {} } }, 400: { $ref: '#/components/responses/Error' } }
components:
  securitySchemes: { token: { type: http, scheme: bearer } }
  responses: { Error: { content: { application/json: { schema: { properties: { error: { description: Why } } } } } } }
  schemas:
    Plant:
      required: [name]
      properties: { name: { type: string }, size: { enum: [small, large] }, description: {}, properties: {}, parent: { $ref: '#/components/schemas/Plant' } }
`;

function edited(from: string, to: string): string {
  expect(CONTRACT).toContain(from);
  return CONTRACT.replaceAll(from, to);
}

test.each([
  ['a member removed from a response', 'error: { description: Why }', ''],
  ['a member required in a request', 'required: [name]', 'required: [name, size]'],
  ['a member no longer required', 'required: [name]', 'required: []'],
  ['another type', 'type: string', 'type: integer'],
  ['a narrower enumeration', '[small, large]', '[small]'],
  ['a new bound', 'type: string', 'type: string, maxLength: 5'],
  ['a new bound of a member named like a keyword', 'properties: {}', 'properties: { maxLength: 5 }'],
  ['a removed member named like a keyword', 'description: {}, ', ''],
  ['no other members', 'required: [name]', 'required: [name]\n      additionalProperties: false'],
  ['a removed path', '/plants:', '/plant:'],
  ['a removed method', 'post:', 'put:'],
  ['another operation id', 'createPlant', 'makePlant'],
  ['a new status', 'responses: { 200:', 'responses: { 201: {}, 200:'],
  ['a removed response header', 'Retry-After: {}', ''],
  ['another media type', 'application/json', 'text/plain'],
  ['a parameter that becomes required', 'required: false', 'required: true'],
  ['a new required parameter', 'parameters: [', 'parameters: [{ name: X, in: query, required: true }, '],
  ['another kind of token', 'bearer', 'basic'],
  ['a second key besides the token', '[{ token: [] }]', '[{ token: [], key: [] }]'],
  ['another address', 'https://plants.example', 'https://plants.example/v2'],
])('reports that this may break clients: %s', (_, from, to) => {
  expect(findChanges(CONTRACT, edited(from, to)).join()).toContain('MAY BREAK');
});

test.each([
  ['another description', 'description: Why', 'description: What went wrong'],
  ['a description of the server', "example' }", "example', description: Ours }"],
  ['another version', '1.0.0', '1.1.0'],
  ['another example', 'example: 7', 'example: 8'],
  ['a new optional member', 'description: {}', 'description: {}, tag: {}'],
  ['a new optional parameter', 'parameters: [', 'parameters: [{ name: X, in: query }, '],
  ['a new response header', 'Retry-After: {}', 'Retry-After: {}, X-Hint: {}'],
  ['a new path', '/plants:', '/gardens: { get: {} }\n  /plants:'],
  ['a new method', 'post:', 'get: {}\n    post:'],
])('reports that this is harmless: %s', (_, from, to) => {
  const changes = findChanges(CONTRACT, edited(from, to));
  expect(changes).not.toEqual([]);
  expect(changes.join()).not.toContain('MAY BREAK');
});

test('ignores the names of components, and rejects a reference to an unknown component', () => {
  expect(findChanges(CONTRACT, edited('Error', 'Failure'))).toEqual([]);
  expect(() => findChanges(CONTRACT, edited('schemas/Plant', 'schemas/Tree'))).toThrow('"#/components/schemas/Tree"');
});

test('compares with a commit, and sets exit status 1 if a change may break clients', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'breaking-changes-'));
  const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x', ...args], { cwd });
  const run = (contract: string) => {
    writeFileSync(join(cwd, 'openapi.yaml'), contract);
    const args = [join(import.meta.dirname, 'breaking-changes.ts'), '--since', 'HEAD'];
    const { status, stdout } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' });
    return { status, stdout };
  };
  writeFileSync(join(cwd, 'openapi.yaml'), CONTRACT);
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'x', '--no-gpg-sign');
  expect(run(CONTRACT)).toEqual({ status: 0, stdout: 'openapi.yaml has no changes since HEAD.\n' });
  const stdout = 'MAY BREAK  remove paths > /plants > post\nharmless   add paths > /plants > put\n';
  expect(run(edited('post:', 'put:'))).toEqual({ status: 1, stdout });
});
