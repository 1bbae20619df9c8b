import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEvent } from './event.ts';

/** Writes files to a new folder. Returns a function that returns a file's path. */
function write(files: Record<string, string>) {
  const directory = mkdtempSync(join(tmpdir(), 'plant-store-'));
  const path = (name: string) => join(directory, name);
  for (const [name, text] of Object.entries(files)) writeFileSync(path(name), text);
  return path;
}

test('reads an event', () => {
  const event = { httpMethod: 'POST', resource: '/plants', body: 'é' };
  expect(readEvent(write({ 'a.json': JSON.stringify(event) })('a.json'))).toEqual(event);
});

test('rejects a file that does not exist', () => {
  const file = write({})('a.json');
  expect(() => readEvent(file)).toThrow(`The event ${file} cannot be read: ENOENT`);
});

test.each([
  ['# Text', 'cannot be read: Unexpected token'],
  ['{"httpMethod":"POST"}', 'must be a REST proxy event, with httpMethod and resource.'],
  ['{"resource":"/plants"}', 'must be a REST proxy event, with httpMethod and resource.'],
  ['null', 'must be a REST proxy event, with httpMethod and resource.'],
])('rejects a file that contains %s', (text, problem) => {
  const file = write({ 'a.json': text })('a.json');
  expect(() => readEvent(file)).toThrow(`The event ${file} ${problem}`);
});
