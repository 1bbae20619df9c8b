import { execSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import axe, { type AxeResults } from 'axe-core';
import { type Browser, launch, type Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEVELOPMENT_TOKEN } from '../../tools/local/dynamodb.ts';
import { synthesize } from '../../tools/local/synthesize.ts';
import { readTemplate } from '../../tools/local/template.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { listen } from '../support/listen.ts';
import { copyProject, type ProjectCopy } from '../support/project-copy.ts';
import { startTestService, type TestService } from '../support/service.ts';

/*
 * The reference page in a browser: at the local run, and as a folder on a static host, with an API that allows the host's
 * origin.
 */

const LARGEST = 2n ** 63n - 1n;
const PLANT = `{"id":${LARGEST},"name":"Sequoia"}`;
const FIND_CHROMIUM = 'command -v chromium || command -v chromium-browser || command -v google-chrome';
/** Long enough for a slow machine. */
const TIMEOUT = { timeout: 60_000 };

/** A script: texts and controls that overlap another one or their container, and elements that must be scrolled sideways. */
const MISPLACED = `(() => {
  const visible = [...document.querySelectorAll('#page *')].filter((element) => element.checkVisibility());
  const boxes = visible.flatMap((element) => {
    if (element.matches('button, select, textarea, input')) return [[element, element.getBoundingClientRect()]];
    const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    return texts.flatMap((node) => {
      const range = document.createRange();
      range.selectNode(node);
      return [...range.getClientRects()].map((box) => [node, box]);
    });
  });
  const closest = (node, selector) => (node.parentElement ?? node).closest(selector);
  const misplaced = boxes.filter(([node, box], index) => {
    const container = closest(node, '.opblock, .models, #page').getBoundingClientRect();
    return box.left < container.left || box.right > container.right || boxes.slice(index + 1).some(([other, otherBox]) => {
      if (node.contains(other) || other.contains(node)) return false;
      const width = Math.min(box.right, otherBox.right) - Math.max(box.left, otherBox.left);
      const height = Math.min(box.bottom, otherBox.bottom) - Math.max(box.top, otherBox.top);
      // Texts in a cell may touch; columns need a space.
      return height > 2 && width > (closest(node, 'td, th') === closest(other, 'td, th') ? 1 : -3);
    });
  });
  const isScroller = (element) => ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
  const scrolled = visible.filter((element) => isScroller(element) && element.scrollWidth > element.clientWidth);
  return [...misplaced.map(([node]) => node.data ?? node.outerHTML), ...scrolled.map(({ outerHTML }) => outerHTML)];
})()`;

/** A script: the controls that have no outline when they have the focus, or are too small to see. */
const HIDDEN_FOCUS = `[...document.querySelectorAll('a[href], button, select, textarea, input, [tabindex="0"]')]
  .filter((control) => {
    control.focus();
    const { width, height } = control.getBoundingClientRect();
    return getComputedStyle(control).outlineStyle !== 'solid' || Math.min(width, height) < 10;
  })
  .map(({ outerHTML }) => outerHTML)`;

/** A script: the generated texts, such as "required", whose contrast is below 4.5. axe does not check them. */
const FAINT_GENERATED_TEXTS = `(() => {
  axe.setup();
  const { Color, getBackgroundColor, getContrast } = axe.commons.color;
  const faint = [...document.querySelectorAll('.required, .json-schema-2020-12__title')].filter((element) => {
    const color = new Color();
    color.parseString(getComputedStyle(element, '::after').color);
    return !(getContrast(getBackgroundColor(element), color) >= 4.5);
  });
  axe.teardown();
  return faint.map(({ outerHTML }) => outerHTML);
})()`;

let browser: Browser;
let engine: Engine;
let project: ProjectCopy;
let api: TestService;
const host = createServer((request, response) => {
  const name = request.url === '/plants-api/' ? 'index.html' : String(request.url?.replace('/plants-api/', ''));
  const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
  response
    .setHeader('content-type', types[extname(name)] ?? 'text/plain')
    .end(readFileSync(join(project.directory, 'page', name)));
});
const pageUrls = { 'local run': '', 'static folder': '' };

beforeAll(async () => {
  browser = await launch({
    executablePath: process.env['CHROMIUM'] || execSync(FIND_CHROMIUM, { encoding: 'utf8' }).trim(),
    args: [
      // Reaches only this machine: other host names are not resolved.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      // Chromium does not start as root with a sandbox.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
  engine = await startEngine();
  project = copyProject();
  const run = await project.start('npm start', { AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint });
  pageUrls['local run'] = /http:\S+\/docs$/m.exec(run.output())?.[0] ?? '';

  const origin = `http://${await listen(host)}`;
  const assembly = await synthesize(join(project.directory, 'assembly'), { allowOrigins: origin });
  api = await startTestService(readTemplate(assembly), engine);
  const { code, stderr } = await project.run(`npm run --silent reference-page -- --url ${api.url} --out page`);
  expect(code, stderr).toBe(0);
  pageUrls['static folder'] = `${origin}/plants-api/`;
});
afterAll(async () => {
  await browser?.close();
  await api?.close();
  host.close();
  project?.close();
  await engine?.close();
});

describe.each(['local run', 'static folder'] as const)('the page of the %s', (place) => {
  let page: Page;
  /** The URLs of all requests. */
  let requestedUrls: string[];
  /** Errors and warnings of the browser and the page. */
  let warnings: string[];
  beforeEach(async () => {
    await engine.clear(engine.plantsTable);
    requestedUrls = [];
    warnings = [];
    // A context of its own, without the stored data of another page.
    page = await (await browser.createBrowserContext()).newPage();
    page.setDefaultTimeout(TIMEOUT.timeout);
    page.on('request', (request) => requestedUrls.push(request.url()));
    page.on('pageerror', (error) => warnings.push(String(error)));
    page.on('console', (message) => {
      // A browser logs each response with the status 400 as an error.
      const is400 = message.text().includes('status of 400') && message.location().url?.endsWith('/plants');
      if (!is400 && ['error', 'warn'].includes(message.type())) warnings.push(message.text());
    });
    await page.evaluateOnNewDocument(
      `addEventListener('securitypolicyviolation', ({ blockedURI }) => console.error('blocked: ' + blockedURI))`,
    );
    await page.goto(pageUrls[place]);
    await page.waitForSelector('.opblock-body');
  });
  afterEach(async () => {
    await page.browserContext().close();
    const external = requestedUrls.filter((url) => !/^(data:|http:\/\/127\.0\.0\.1:)/.test(url));
    expect({ external, warnings }).toEqual({ external: [], warnings: [] });
    expect(requestedUrls).toContainEqual(expect.stringContaining('/swagger-ui-bundle.js'));
  });

  const text = (selector: string) => page.$eval(selector, (element) => element.textContent ?? '');

  /** Sends createPlant, by default with the body that the page shows. Returns the response that the page shows. */
  async function send(body?: string): Promise<{ status: string; response: unknown; shown: string }> {
    await (await page.$('.btn-clear'))?.click();
    if (body) await page.locator('#operations-plants-createPlant .body-param__text').fill(body);
    await page.click('#operations-plants-createPlant .execute');
    await page.waitForSelector('.live-responses-table .response-col_status');
    return {
      status: (await text('.live-responses-table tbody .response-col_status')).trim(),
      response: JSON.parse(await text('.live-responses-table .highlight-code code')),
      shown: await text('.live-responses-table'),
    };
  }

  /** Enters the token in the open dialog. The page of the local run has one from the start: it is replaced. */
  async function authorize(): Promise<void> {
    if (place === 'local run') await page.click('[aria-label="Logout"]');
    await page.type('.modal-ux input', DEVELOPMENT_TOKEN);
    await page.click('.modal-btn.authorize');
  }

  /** Fails if axe finds a violation, or a generated text is faint, in light or dark mode. Waits for the page's transitions to end. */
  async function expectAccessible(state: string): Promise<void> {
    await page.evaluate(axe.source);
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await page.waitForFunction(`document.documentElement.matches('.dark-mode') === ${scheme === 'dark'}`);
      const findings = async () => {
        // axe cannot preload a style sheet that is imported into a layer.
        const { violations } = (await page.evaluate('axe.run({ preload: false })')) as AxeResults;
        const faintTexts = (await page.evaluate(FAINT_GENERATED_TEXTS)) as string[];
        return [...faintTexts, ...violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])];
      };
      await expect.poll(findings, { message: `${state}, ${scheme}`, ...TIMEOUT }).toEqual([]);
    }
  }

  test('shows the contract, with an example for each error', async () => {
    expect(await page.title()).toBe('Plant Store');
    expect(await text('.info .title')).toContain('Plant Store');
    expect(await text('.info__description')).toMatch(/^Stores plants\./);
    expect(await text('#operations-plants-createPlant')).toContain('Safe to repeat');
    expect(await text('.models')).toContain('the id is in use by a different plant');
    await page.select('.examples-select-element', 'error-409-id-in-use');
    const shown = '#operations-plants-createPlant [data-code="400"] .highlight-code';
    await expect.poll(() => text(shown), TIMEOUT).toContain('The id 1 is in use by a different plant');
  });

  test('is authorized when it opens only at the local run', async () => {
    const { status, response, shown } = await send();
    if (place === 'local run') {
      expect({ status, response }).toEqual({ status: '200', response: { name: 'Monstera deliciosa', tag: 'climber' } });
    } else {
      expect({ status, response }).toMatchObject({ status: '400', response: { error: 401 } });
      expect(shown).toContain('The Authorization header is missing');
      expect(await page.content()).not.toContain(DEVELOPMENT_TOKEN);
    }
  });

  test('shows the errors 400 and 409, and creates the plant with the largest id exactly', async () => {
    await page.click('.btn.authorize');
    await authorize();
    await page.click('.close-modal');
    const message = 'The member name is missing; it must be a string of well-formed Unicode.';
    expect(await send('{"id":1}')).toMatchObject({ status: '400', response: { error: 400, message } });
    const created = await send(PLANT);
    expect(created).toMatchObject({ status: '200', response: { name: 'Sequoia' } });
    expect(created.shown).toMatch(/x-amz-apigw-id: \S+/);
    expect(created.shown).toMatch(/Request duration\s*\d+ ms/);
    expect(await engine.stored(LARGEST)).toEqual({ id: '9223372036854775807', name: 'Sequoia' });
    const conflict = await send(PLANT.replace('Sequoia', 'Ficus'));
    const inUse = `The id ${LARGEST} is in use by a different plant; use another id.`;
    expect(conflict).toMatchObject({ status: '400', response: { error: 409, message: inUse } });
  });

  // The static page differs only in its token and its API.
  if (place === 'static folder') return;

  test('has no accessibility violation in any state, in light and dark mode', async () => {
    await expectAccessible('opened');
    await page.click('.btn.authorize');
    await page.waitForSelector('.modal-ux');
    await expectAccessible('authorization dialog');
    await authorize();
    await expectAccessible('authorized');
    await page.click('.close-modal');
    await send('{"id":1}');
    await expectAccessible('response shown');
  });

  test('shows which control has the focus', async () => {
    await send('{"id":1}');
    await page.click('.btn.authorize');
    await page.waitForSelector('.modal-ux');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(HIDDEN_FOCUS)).toEqual([]);
  });

  test('shows the Execute button without scrolling at 1280 by 900 pixels', async () => {
    await page.setViewport({ width: 1280, height: 900 });
    const isVisible = () => page.$eval('.execute', (button) => button.getBoundingClientRect().bottom <= 900);
    await expect.poll(isVisible, TIMEOUT).toBe(true);
  });

  test('fits the width of a phone, and nothing overlaps', async () => {
    const expectGoodLayout = async () => {
      // 320 is the width of WCAG 2.2, 1.4.10.
      for (const width of [390, 320]) {
        await page.setViewport({ width, height: 844 });
        await expect.poll(() => page.evaluate(MISPLACED), { message: `${width} pixels`, ...TIMEOUT }).toEqual([]);
      }
    };
    await expectGoodLayout();
    await page.setViewport({ width: 390, height: 844 });
    await send('{"id":1}');
    await expectGoodLayout();
  });
});
