import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checked, command, UsageError } from './command.ts';
import { referencePage } from './local/reference-page.ts';

const USAGE = `Usage: npm run reference-page -- --url URL [--out DIR]

Writes the page that npm start serves at /docs to the folder DIR, for any static host. The page sends its requests to
URL, the base URL of the API: the output ApiUrl of a deployed stack, or http://127.0.0.1:3000 for the local run.
DIR is reference-page by default.`;

const OPTIONS = { url: { type: 'string' }, out: { type: 'string', default: 'reference-page' } } as const;

/** Without a slash at the end, because the contract's paths begin with one. */
const URL_PATTERN = /^(https:\/\/[\w.-]+|http:\/\/(127\.0\.0\.1|localhost))(:\d+)?(\/[\w.~-]+)*$/;

await command({ usage: USAGE, options: OPTIONS }, async ({ url, out }) => {
  if (url === undefined) throw new UsageError('--url is missing; it must be the base URL of the API.');
  const expected = 'an https URL such as https://plants.example.com/v1, or an http URL of 127.0.0.1';
  const baseUrl = checked('--url', url.replace(/\/$/, ''), URL_PATTERN, expected);
  const files = referencePage(baseUrl);
  mkdirSync(out, { recursive: true });
  const otherFile = readdirSync(out).find((name) => !Object.keys(files).includes(name));
  if (otherFile !== undefined) {
    throw new UsageError(`--out was "${out}", which contains ${otherFile}; it must contain nothing except the page.`);
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(out, name), text);
  console.log(`The reference page for ${baseUrl} is in ${out}: index.html and ${Object.keys(files).length - 1} other files.
The API must allow the origin at which you publish the page: docs/reference-page.md.`);
});
