// Every page in every state: nothing lies beyond its container. ASSAY_TEST_SCREENSHOTS names a folder that keeps the
// pictures, light and dark.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { adminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { textAt } from '../support/json.ts';
import { signInBy, startBrowser } from '../support/pages.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

const LONG = 'a-server-whose-name-is-as-long-as-names-may-be-0123456789-0123456';
const SCREENSHOTS = process.env['ASSAY_TEST_SCREENSHOTS'];

let assay: Gateway;
let page: Page;
let tool: string;
beforeAll(async () => {
  const home = tempDir();
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  const dead = { command: 'no-such-program', args: ['x'.repeat(300)] };
  const servers = { show: fixture('showcase'), [LONG.slice(0, 64)]: dead };
  assay = await startGateway({ servers, home });
  await assay.settled();
  const admin = adminClient(assay, token);
  const tools = [{ namespacedName: 'show.set_note' }, { namespacedName: 'show.read_note' }];
  await admin.post('/toolsets', { name: 'notes', tools });
  tool = textAt((await admin.get('/tools/show.both')).json(), 'id');
  if (SCREENSHOTS !== undefined) mkdirSync(SCREENSHOTS, { recursive: true });
  ({ page } = await signInBy(await startBrowser(), assay, token));
  page.setDefaultTimeout(20_000);
});

const PATHS: readonly (readonly [name: string, path: () => string])[] = [
  ['overview', () => ''],
  ['servers', () => 'servers'],
  ['server', () => 'servers?server=show'],
  ['server-down', () => `servers?server=${LONG.slice(0, 64)}`],
  ['server-unknown', () => 'servers?server=none'],
  ['server-add', () => 'servers?add=command'],
  ['tools', () => 'tools'],
  ['tools-by-risk', () => 'tools?group=risk'],
  ['tools-none', () => 'tools?q=zzz'],
  ['tool', () => `tools?tool=${tool}`],
  ['run', () => `tools/${tool}/run`],
  ['toolsets', () => 'toolsets'],
  ['toolset', () => 'toolsets?toolset=notes'],
  ['toolset-add', () => 'toolsets?add=true'],
  ['approvals', () => 'approvals'],
  ['activity', () => 'activity'],
  ['changes', () => 'activity?show=changes'],
  ...['preferences', 'rules', 'tokens', 'browsers', 'backup'].map(
    (section) => [`settings-${section}`, () => `settings?section=${section}`] as const,
  ),
  ['missing', () => 'no-such-page'],
];

it.each(PATHS)('%s shows all of its parts within their containers', async (name, path) => {
  const found: string[] = [];
  for (const width of [1_440, 1_024, 360]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`http://127.0.0.1:${assay.port}/admin/${path()}`);
    await settle();
    const tabs = page.getByRole('tab');
    const count = await tabs.count();
    for (let at = 0; at < Math.max(count, 1); at += 1) {
      if (count > 0) await tabs.nth(at).click();
      await settle();
      await keepPictures(`${name}-${at}-${width}`);
      found.push(
        ...(await page.evaluate<readonly string[]>(OUTSIDE)).map((one) => `${width} tab ${at}: ${one}`),
      );
    }
  }
  expect(found).toEqual([]);
});

async function keepPictures(name: string): Promise<void> {
  if (SCREENSHOTS === undefined) return;
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await settle();
    await page.screenshot({ path: join(SCREENSHOTS, `${name}-${colorScheme}.png`) });
  }
}

/** Waits until nothing is loading or moving. */
async function settle(): Promise<void> {
  await page.locator('h1, h2').first().waitFor();
  await page.waitForLoadState('networkidle').catch(() => undefined);
  await page.evaluate(
    'Promise.all(document.getAnimations().filter((one) => one.effect.getComputedTiming().iterations !== Infinity).map((one) => one.finished))',
  );
}

/** Visible elements beyond the box of their container, and icons as large as pictures. */
const OUTSIDE = `(() => {
  const found = [];
  const nameOf = (element) => element.tagName.toLowerCase() + (element.getAttribute('class') ? '.' + element.getAttribute('class') : '') + ' ' + JSON.stringify((element.textContent ?? '').slice(0, 40));
  const containerOf = (element) => {
    let parent = element.parentElement;
    while (parent && ['inline', 'contents'].includes(getComputedStyle(parent).display)) parent = parent.parentElement;
    return parent;
  };
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways');
  for (const element of document.body.querySelectorAll('*')) {
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || box.width <= 1 || box.height <= 1 || box.right <= 0) continue;
    if (element.tagName === 'svg' && Math.max(box.width, box.height) > 64 && !element.closest('[role="img"], .chart'))
      found.push(nameOf(element) + ' of ' + nameOf(element.parentElement) + ' is an icon of ' + Math.round(box.width) + ' x ' + Math.round(box.height));
    if (element.closest('svg') !== null && element.tagName !== 'svg') continue;
    const container = containerOf(element);
    if (container === null || container === document.body || style.position === 'fixed') continue;
    const outer = container.getBoundingClientRect();
    const { overflowX, overflowY } = getComputedStyle(container);
    const isFree = style.position === 'absolute';
    const beyond = [];
    if (overflowX === 'visible' && (box.right > outer.right + 1 || box.left < outer.left - 1)) beyond.push('sideways');
    if (overflowY === 'visible' && !isFree && (box.bottom > outer.bottom + 1 || box.top < outer.top - 1)) beyond.push('up or down');
    if (beyond.length > 0 && outer.height > 0) found.push(nameOf(element) + ' exceeds ' + nameOf(container) + ' ' + beyond.join(', ') + ': ' + [box.left, box.top, box.right, box.bottom].map(Math.round) + ' in ' + [outer.left, outer.top, outer.right, outer.bottom].map(Math.round));
  }
  return [...new Set(found)];
})()`;
