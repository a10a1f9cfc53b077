// Stopping calls from the admin pages. ASSAY_TEST_SCREENSHOTS names a folder for pictures.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { openSignedIn, signInBy, startBrowser } from '../support/pages.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { callText } from '../support/rest-tools.ts';
import { keepToken } from '../support/tokens.ts';

const SCREENSHOTS = process.env['ASSAY_TEST_SCREENSHOTS'];

let assay: Gateway;
let page: Page;
let reader: Page;
let complaints: readonly string[];

beforeAll(async () => {
  const home = tempDir();
  assay = await startGateway({ servers: { plain: fixture('plain') }, home });
  await assay.settled();
  const browser = await startBrowser();
  ({ page, complaints } = await openSignedIn(browser, assay));
  const token = await keepToken(home, 'reader', { scopes: ['read'] });
  reader = (await signInBy(browser, assay, token)).page;
  if (SCREENSHOTS !== undefined) mkdirSync(SCREENSHOTS, { recursive: true });
});

async function picture(name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(SCREENSHOTS, `${name}-${colorScheme}.png`) });
  }
}

it('all calls are stopped from any page, with a reason; every page says so until they are enabled', async () => {
  await page.getByRole('button', { name: 'Stop all calls' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('an incident');
  await picture('stop-dialog');
  await dialog.getByRole('button', { name: 'Stop all calls' }).click();
  const banner = page.getByRole('alert').filter({ hasText: 'All calls are stopped' });
  await banner.getByText('an incident').waitFor();
  expect(await callText(assay, 'plain_label')).toContain('stopped all calls');
  for (const name of ['Tools', 'Servers', 'Activity', 'Settings', 'Overview']) {
    await page.getByRole('link', { name }).first().click();
    await banner.waitFor();
  }
  await picture('stop-banner');
  await reader.getByText('All calls are stopped').waitFor();
  expect(await reader.getByRole('button', { name: 'Enable…' }).isDisabled()).toBe(true);
  await banner.getByRole('button', { name: 'Enable…' }).click();
  await banner.getByText('Enabling allows 11 tools, of which 11 may be destructive').waitFor();
  await picture('stop-enable');
  expect(await callText(assay, 'plain_label')).toContain('stopped all calls');
  await banner.getByRole('button', { name: 'Enable', exact: true }).click();
  await banner.waitFor({ state: 'detached' });
  expect(await callText(assay, 'plain_label')).toBe('plain');
});

it('a server and a tool are stopped on their own page', async () => {
  const { port } = assay;
  await page.goto(`http://127.0.0.1:${port}/admin/servers?server=plain`);
  await page.getByRole('button', { name: 'Stop this server' }).click();
  await page.getByRole('form').getByRole('button', { name: 'Stop this server' }).click();
  await page.getByRole('region', { name: 'Stopped' }).waitFor();
  await picture('stop-server');
  expect(await callText(assay, 'plain_label')).toContain('stopped the server "plain"');
  await page.getByRole('button', { name: 'Enable…' }).click();
  await page.getByRole('button', { name: 'Enable', exact: true }).click();
  await page.getByRole('button', { name: 'Stop this server' }).waitFor();
  await page.goto(`http://127.0.0.1:${port}/admin/tools`);
  await page.getByText('plain_label').first().click();
  await page.getByRole('button', { name: 'Stop this tool' }).click();
  await page.getByRole('form').getByRole('button', { name: 'Stop this tool' }).click();
  await page.getByRole('region', { name: 'Stopped' }).waitFor();
  await picture('stop-tool');
  expect(await callText(assay, 'plain_label')).toContain('stopped the tool "plain.label"');
  expect(await callText(assay, 'plain_echo')).toBe('{}');
  expect(complaints).toEqual([]);
});
