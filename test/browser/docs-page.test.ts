import { execSync } from 'node:child_process';
import { launch } from 'puppeteer-core';
import { expect, test } from 'vitest';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { bodyOf, plantWith } from '../support/event.ts';
import { startServiceWithEngine } from '../support/service.ts';

const FIND_CHROMIUM = 'command -v chromium || command -v chromium-browser || command -v google-chrome';
const LARGEST = 2n ** 63n - 1n;

const { url, engine } = await startServiceWithEngine();
/** The URLs of all requests, and the errors and warnings of the browser. */
const requestedUrls: string[] = [];
const warnings: string[] = [];

const options = {
  executablePath: process.env['CHROMIUM'] || execSync(FIND_CHROMIUM, { encoding: 'utf8' }).trim(),
  // Chromium does not start as root with a sandbox.
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
};
const page = await closedAtEnd(await launch(options)).newPage();
page.setDefaultTimeout(60_000);
page.on('request', (request) => requestedUrls.push(request.url()));
page.on('pageerror', (error) => warnings.push(String(error)));
page.on('console', (message) => {
  if (['error', 'warn'].includes(message.type())) warnings.push(message.text());
});
await page.goto(`${url}/docs`);
await page.waitForSelector('.opblock-body');

/** Sends the request with the example or what is entered. Returns the response's body as the page shows it. */
async function execute(): Promise<string> {
  await page.click('.execute');
  const response = await page.waitForSelector('.live-responses-table .highlight-code .microlight');
  return (await response?.evaluate(({ textContent }) => textContent)) ?? '';
}

test('the page shows the contract, and sends an int64 exactly with the development token', async () => {
  expect(await page.title()).toBe('Plant Store API');
  expect(await page.$eval('.info .title', ({ textContent }) => textContent)).toContain('Plant Store');
  await page.locator('.body-param__text').fill(bodyOf(LARGEST));
  expect(JSON.parse(await execute())).toEqual(plantWith());
  expect(await engine.stored(LARGEST)).toEqual({ id: String(LARGEST), ...plantWith() });
});

test('the page loads nothing from elsewhere, and the browser has nothing to report', () => {
  expect(requestedUrls).toContain(`${url}/docs/swagger-ui-bundle.js`);
  expect(requestedUrls.filter((each) => !each.startsWith(url) && !each.startsWith('data:'))).toEqual([]);
  expect(warnings).toEqual([]);
});
