import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesBefore, readEvent } from './event.ts';

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

test.each([
  ['b.json', '{}', 'cannot be read: ENOENT'],
  ['a.json', '# Text', 'cannot be read: Unexpected token'],
  ['a.json', '{"httpMethod":"POST"}', 'must be a REST proxy event, with httpMethod and resource.'],
  ['a.json', '{"resource":"/plants"}', 'must be a REST proxy event, with httpMethod and resource.'],
  ['a.json', 'null', 'must be a REST proxy event, with httpMethod and resource.'],
])('rejects the file %s if a.json contains %s', (name, text, problem) => {
  const file = write({ 'a.json': text })(name);
  expect(() => readEvent(file)).toThrow(`The event ${file} ${problem}`);
});

test('names the events before an event, in order', () => {
  const path = write({ 'before.json': '{"third":"second","second":"first"}' });
  expect(filesBefore(path('third.json'))).toEqual([path('first.json'), path('second.json')]);
  expect(filesBefore(path('first.json'))).toEqual([]);
  expect(filesBefore(write({})('third.json'))).toEqual([]);
});
