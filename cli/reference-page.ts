import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { referencePage } from '../local/reference-page.ts';
import { checked, command, WrongArguments } from './command.ts';

/* npm run reference-page: writes the page that `npm start` serves at /docs as a folder for a static host. */

const USAGE = `Usage: npm run reference-page -- --url URL [--out DIR]

Writes the reference page of openapi.yaml as a folder for any static host. URL is the base URL that its console calls:
the output ApiUrl of a deployed stack, or that of a local run. DIR is reference-page/ by default.`;

const OPTIONS = { url: { type: 'string' }, out: { type: 'string', default: 'reference-page' } } as const;

/** A path has no slash at its end: the contract's paths begin with one. */
const URL_PATTERN = /^(https:\/\/[\w.-]+|http:\/\/(127\.0\.0\.1|localhost))(:\d+)?(\/[\w.~-]+)*$/;

await command({ usage: USAGE, options: OPTIONS }, async ({ url, out }) => {
  if (url === undefined) throw new WrongArguments('--url is missing; it must be the base URL of the API.');
  const expected = 'an https URL as in https://plants.example.com/v1, or an http one of 127.0.0.1';
  const baseUrl = checked('--url', url.replace(/\/$/, ''), URL_PATTERN, expected);
  const files = referencePage(baseUrl);
  mkdirSync(out, { recursive: true });
  const other = readdirSync(out).find((name) => !Object.keys(files).includes(name));
  if (other !== undefined) {
    throw new WrongArguments(`--out was "${out}", which holds ${other}; it must be a folder for the page alone.`);
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(out, name), text);
  console.log(`The reference page of ${baseUrl} is in ${out}: ${Object.keys(files).length} files, index.html first.
The API must allow the origin that you publish it at: docs/deploying.md, "Publishing the reference page".`);
});
