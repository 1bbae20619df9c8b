import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import dynalite from 'dynalite';
import { command } from '../cli/command.ts';
import { DEVELOPMENT_TOKEN } from '../local/development-token.ts';
import { startService } from '../local/service.ts';
import { launchChromium } from './chromium.ts';

/* npm run screenshot: the picture of the reference page in the README, of a plant that was created with it. */

const PICTURE = join(import.meta.dirname, '../docs/reference-page.png');

await command({ usage: 'Usage: npm run screenshot' }, async () => {
  await using opened = new AsyncDisposableStack();
  // What stands in the picture must not depend on what its maker has stored.
  const database = dynalite({ createTableMs: 0 });
  database.listen(0, '127.0.0.1');
  await once(database, 'listening');
  opened.defer(() => database.closeAllConnections());
  opened.defer(() => void database.close());
  process.env['AWS_ENDPOINT_URL_DYNAMODB'] = `http://127.0.0.1:${(database.address() as AddressInfo).port}`;
  // The port that the README names.
  const service = await startService(3000);
  opened.defer(service.close);
  const browser = await launchChromium();
  opened.defer(() => browser.close());

  const page = await browser.newPage();
  // So high that nothing has to be scrolled, which would move what is measured.
  await page.setViewport({ width: 1280, height: 3000 });
  await page.goto(/http:\S+\/docs/.exec(service.instructions)?.[0] ?? '');
  await page.locator('.btn.authorize').click();
  await page.locator('.modal-ux input').fill(DEVELOPMENT_TOKEN);
  await page.locator('.modal-btn.authorize').click();
  await page.locator('.close-modal').click();
  await page.locator('.execute').click();
  await page.waitForSelector('.live-responses-table .response-col_status');
  const operation = await (await page.$('.opblock'))?.boundingBox();
  const answer = await (await page.$('.live-responses-table'))?.boundingBox();
  if (!operation || !answer) throw new Error('The page shows no operation, or no answer.');
  const { x, y, width } = operation;
  await page.screenshot({ path: PICTURE, clip: { x, y, width, height: answer.y + answer.height - y } });
});
