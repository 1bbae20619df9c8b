import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { runCommand } from '../test/support/command.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'page-'));
});

const writePage = (...args: string[]) => runCommand('reference-page', args);

test('writes the page, and replaces it when run again', async () => {
  const out = join(directory, 'page');
  for (const url of ['https://a.example/v1/', 'http://127.0.0.1:3000']) {
    const stdout = expect.stringContaining(`is in ${out}: index.html and 8 other files`);
    expect(await writePage('--url', url, '--out', out)).toMatchObject({ code: 0, stdout });
    expect(readFileSync(join(out, 'openapi.yaml'), 'utf8')).toContain(`servers:\n  - url: ${url.replace(/\/$/, '')}\n`);
  }
  expect(readdirSync(out)).toContain('index.html');
});

test.each([
  [[], '--url is missing; it must be the base URL of the API.'],
  [['--url', 'http://plants.example.com'], '--url was "http://plants.example.com"; it must be an https URL such as '],
  [['--url', 'at https://a.example'], '--url was "at https://a.example"; it must be an https URL such as '],
  [['--url', 'https://a.example/?x'], '--url was "https://a.example/?x"; it must be an https URL such as '],
  [['--url', 'https://a.example;b'], '--url was "https://a.example;b"; it must be an https URL such as '],
])('rejects %j with a message and the usage', async (args, message) => {
  const { code, stderr } = await writePage(...args, '--out', directory);
  expect(code).toBe(1);
  expect(stderr).toContain(message);
  expect(stderr).toContain('Usage: npm run reference-page -- --url URL [--out DIR]');
  expect(readdirSync(directory)).toEqual([]);
});

test('rejects a folder that contains another file', async () => {
  writeFileSync(join(directory, 'mine.txt'), 'x');
  const { code, stderr } = await writePage('--url', 'https://a.example', '--out', directory);
  expect(code).toBe(1);
  expect(stderr).toContain(
    `--out was "${directory}", which contains mine.txt; it must contain nothing except the page.`,
  );
  expect(readdirSync(directory)).toEqual(['mine.txt']);
});
